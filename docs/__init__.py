"""Pages, and the site that is made of them."""
