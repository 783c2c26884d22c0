"""Reviews documents: rules, units for the language model, stored runs and their pages."""
