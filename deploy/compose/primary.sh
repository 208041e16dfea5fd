#!/bin/sh
# Lets the standby in, and waits for it with each commit from the next start on. The image's entry point reads this once.
password=$(cat "$POSTGRES_PASSWORD_FILE")
psql --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --set=ON_ERROR_STOP=1 --set=password="$password" <<'SQL'
CREATE ROLE standby REPLICATION LOGIN PASSWORD :'password';
SELECT pg_create_physical_replication_slot('standby');
ALTER SYSTEM SET synchronous_standby_names = 'standby';
SQL
echo "host replication standby all scram-sha-256" >>"$PGDATA/pg_hba.conf"
