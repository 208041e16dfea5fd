#!/bin/sh
# Lets the standby in, and waits for it with each commit from the next start on. The image's entry point reads this once.
set -eu
psql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --set=password="$POSTGRES_PASSWORD" <<'SQL'
CREATE ROLE standby REPLICATION LOGIN PASSWORD :'password';
SELECT pg_create_physical_replication_slot('standby');
ALTER SYSTEM SET synchronous_standby_names = 'standby';
SQL
echo "host replication standby all scram-sha-256" >>"$PGDATA/pg_hba.conf"
