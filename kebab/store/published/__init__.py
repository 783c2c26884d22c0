"""Published bases: snapshots of a knowledge base on an object store, and their copies here."""
