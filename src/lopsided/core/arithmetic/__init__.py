"""What all compiled code stands on: the decorator, exponentials and waves, small matrices, draws, limits."""
