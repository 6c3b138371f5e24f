"""What keys did before: bounded tables of decayed sums, read before they are updated."""
