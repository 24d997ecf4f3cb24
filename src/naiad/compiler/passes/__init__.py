"""What is done to a program before a back end prints it."""
