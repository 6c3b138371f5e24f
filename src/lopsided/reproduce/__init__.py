"""Every table and figure of the papers, made again: what was published beside what comes out here."""
