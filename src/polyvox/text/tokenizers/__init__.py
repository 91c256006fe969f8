"""From words to the tokens of models that have vocabularies of their own."""
