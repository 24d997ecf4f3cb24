"""The scalar program: what the front end makes, the passes change and a back end prints."""
