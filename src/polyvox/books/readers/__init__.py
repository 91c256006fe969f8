"""Files of books as manuscripts, by format."""
