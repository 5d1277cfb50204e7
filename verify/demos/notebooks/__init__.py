"""The notebooks, one file each: sliders, a picture, text and questions; the first line of a file is its one idea."""
