"""Jobs: books and other long texts, spoken in the background and kept on disk until their owner has fetched them."""
