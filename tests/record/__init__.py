"""Two checkouts of naiad, run side by side on one machine: what differs between them."""
