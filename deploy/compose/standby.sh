#!/bin/sh
# A standby of the primary: copies it at its first start.
set -eu
PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE")
export PGPASSWORD
until [ -e "$PGDATA/complete" ]; do
    rm -rf "${PGDATA:?}"/*
    if pg_basebackup --checkpoint=fast --host="${PRIMARY:-primary}" --username=standby --pgdata="$PGDATA" --slot=standby --write-recovery-conf; then
        touch "$PGDATA/complete"
    else
        sleep 1
    fi
done
chmod 700 "$PGDATA"
# The name by which the primary waits for it. The copied configuration would have a promoted standby wait for itself.
exec postgres -c cluster_name=standby -c synchronous_standby_names=
