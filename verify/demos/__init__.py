"""Live notebooks for lectures: pictures with sliders over the ordinary code. Measures and proves nothing itself."""
