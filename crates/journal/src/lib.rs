//! The journal of a database that several coordinators share, on a PostgreSQL server.
