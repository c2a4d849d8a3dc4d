"""Programs of front ends, one file each, `FRONTEND_NAME.py`: data to this package, imported only by program.py."""
