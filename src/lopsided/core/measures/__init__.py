"""What is measured online: areas, confusion, windows, and who of several experts answers."""
