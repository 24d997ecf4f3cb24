"""What is done to a program: `finish` to every one, the others where a back end asks for them."""
