"""Training code of the models that this project trains itself; not part of the installed package."""
