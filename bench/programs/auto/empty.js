// A module that does nothing: what --import itself costs.
