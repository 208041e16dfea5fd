#!/bin/sh
# A standby of the primary: copies it at its first start.
set -eu
PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
until [ -s "$PGDATA/standby.signal" ] || [ -f "$PGDATA/complete" ]; do
    rm -rf "${PGDATA:?}"/*
    if pg_basebackup --host="${PRIMARY:-primary}" --username=standby --pgdata="$PGDATA" --slot=standby --write-recovery-conf; then
        touch "$PGDATA/complete"
    else
        sleep 1
    fi
done
chmod 700 "$PGDATA"
# The name by which the primary waits for it.
exec postgres -c cluster_name=standby
