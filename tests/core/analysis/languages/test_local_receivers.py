"""Verbs that lose something elsewhere, called on a client of a service or on what lives in the process alone."""

import pytest

from sentinel_guard.core.analysis.languages.shared import client_losses, service_libraries

ROWS = [
    # values of the process
    ("import mlflow, pandas as pd\nX = pd.read_csv('x').drop(columns=['id'])", False, "a column of a table"),
    ("import wandb, pandas as pd\ndf = pd.read_csv('x')\ndf = df.merge(y)\ndf = df.drop(['a'])", False, "by its name"),
    ("import mlflow, polars as pl\nlf = pl.scan_csv('x').lazy()\nlf = lf.drop('b')", False, "of a query that waits"),
    ("from google.cloud import bigquery\ndf = c.query(q).to_dataframe().dropna()", False, "rows that hold nothing"),
    ("from kafka import KafkaConsumer\ndf = table(x).drop_duplicates()", False, "rows that are there twice"),
    ("import wandb\nfrom torch import nn\nlayer = nn.Dropout(0.5)", False, "a layer"),
    (
        "import wandb\nfrom torch import nn\ndef f(self, x):\n  self.drop = nn.Dropout(0.5)\n  return self.drop(x)",
        False,
        "a layer under such a name",
    ),
    ("import boto3, subprocess\np = subprocess.Popen(['x'])\np.terminate()", False, "a child process"),
    ("import Stripe from 'stripe'\nconst seen = new Map()\nseen.delete(k)", False, "a map"),
    (
        "import Stripe from 'stripe'\nconst seen = new Set<string>()\nfor (const x of xs) { seen.delete(x); }",
        False,
        "a set",
    ),
    (
        "const { Octokit } = require('@octokit/rest')\nconst q = new URLSearchParams(s)\nq.delete('page')",
        False,
        "a query",
    ),
    ("require 'stripe'\nh = {a: 1}\nh.delete(:a)", False, "Ruby's"),
    ("import slack_sdk, asyncio\nfor x in xs:\n  asyncio.create_task(f(x))\n  fh.close()", False, "tasks and files"),
    ("import boto3\nimport plotly.express as px\nfig = px.bar(df)\nfig.update_layout(title='x')", False, "a figure"),
    ("import boto3, asyncio\np = await asyncio.create_subprocess_exec('x')\np.terminate()", False, "one that waits"),
    ("import boto3\nfrom multiprocessing import Process\np = Process(target=f)\np.terminate()", False, "a process"),
    ("import Stripe from 'stripe'\nconst m = new Map([[1, { a: f(2) }]])\nm.delete(1)", False, "a map that holds some"),
    # clients
    ("import boto3\nb = [b for b in s3.buckets.all() if b.name == 'x'][0]\nb.delete()", True, "one of a list"),
    ("import Stripe from 'stripe'\nconst c = new Map(all).get('x')\nawait c.delete()", True, "one of a map"),
    ("import boto3\nb = {b.name: b for b in all}\nb = b['x']\nb.delete()", True, "one of a map, by its name"),
    ("import boto3, asyncio\nc = asyncio.run(find())\nc.delete_vpc()", True, "what a task comes to"),
    ("import boto3, asyncio\nc = await asyncio.create_task(find())\nc.delete_vpc()", True, "the same"),
    ("import boto3\nfrom collections import deque\nq = deque(vms)\nq.popleft().terminate()", True, "of a queue"),
    ("import boto3\nfrom queue import Queue\nq = Queue()\nvpc = q.get()\nvpc.delete()", True, "the same"),
    ("import boto3\nfrom pyarrow import fs\nfs.S3FileSystem().delete_dir('x')", True, "a store of a cloud"),
    ("import 'bullmq'\nimport queue from './queue.js'\nawait queue.obliterate()", True, "no module of Python's"),
    ("import boto3\ndef f(\n    b,\n):\n    b = b.filter(Prefix='x')\n    b.delete()", True, "made of itself alone"),
    ("import boto3\na = b.x()\nb = a.y()\na.delete_vpc()", True, "of each other alone"),
    ("import consulate\nconsulate.Consul().kv.delete('x')", True, "consul under another name"),
    ("import mlflow\nmlflow.delete_experiment('1')", True, "a service's own"),
    ("import boto3, pandas as pd\nec2 = boto3.client('ec2')\nec2.terminate_instances()", True, "beside tables"),
    ("import boto3 as pd\nec2 = pd.client('ec2')\nec2.terminate_instances()", True, "under another's usual name"),
    ("import boto3, pandas as pd\npd = boto3\npd.client('ec2').delete_vpc()", True, "which is given it later"),
    ("import pymilvus, pandas as pd\npd = pymilvus.Collection('x')\npd.drop()", True, "which is given it for good"),
    ("import boto3, pandas as pd\nfor pd in [boto3.client('ec2')]:\n  pd.delete_vpc()", True, "in a loop"),
    ("import boto3, pandas as pd\ndef f(pd):\n  pd.delete_vpc()", True, "as a parameter"),
    ("import boto3, pandas as pd\nimport boto3 as pd\npd.client('ec2').delete_vpc()", True, "loaded anew"),
    ("import boto3\nc = {'ec2': boto3.client('ec2')}\nc['ec2'].delete_vpc()", True, "what a collection holds"),
    ("import boto3\nm = {}\nm = boto3.client('ec2')\nm.delete_vpc()", True, "a name with two values"),
    ("import milvus\nm = {} if 0 else milvus.Collection('x')\nm.drop()", True, "one of two values"),
    ("import milvus\nm = {}\nm, n = milvus.Collection('x'), 1\nm.drop()", True, "two at once"),
    ("import milvus\nm = {}\nif (m := milvus.Collection('x')): m.drop()", True, "within an expression"),
    ("import milvus\nm = {}\nwith milvus.Collection('x') as m:\n  m.drop()", True, "for a block"),
    ("import milvus\nclass A:\n  def f(self):\n    self.client.drop()", True, "what an object holds"),
    ("import pymilvus\nCollection('x').drop(timeout=3)", True, "no option of a table's"),
    ("import {S3Client} from '@aws-sdk/client-s3'\nconst s = new S3Client()\nawait s.deleteObjects({})", True, "S3"),
    ("import Stripe from 'stripe'\nlet m = new Map()\nfor (const m of await s.list()) m.delete('x')", True, "a loop's"),
    ("import Stripe from 'stripe'\nlet m = new Map()\nm ||= stripe.customers\nm.delete('x')", True, "a default"),
    ("import Stripe from 'stripe'\nlet m = new Map()\nxs.forEach((m) => m.delete('x'))", True, "an arrow's"),
    ("import Stripe from 'stripe'\nlet m = new Map()\nconst { m } = stripe\nm.delete('x')", True, "out of an object"),
    ("require 'stripe'\nh = {}\ncustomers.each { |h| h.delete }", True, "a block's"),
    ("import github\nfor issue in repo.get_issues():\n  issue.close()", True, "issues"),
    ("import github\nfor i in repo.get_issues(state='open'):\n  i.close()", True, "the same by another name"),
    ("import github\nfor i in issues: i.close()", True, "in one line"),
    ("import { Octokit } from 'octokit'\nfor (const x of pulls) { await x.close() }", True, "requests"),
    ("import github\nfor f in files:\n  f.close()", False, "files"),
]


@pytest.mark.parametrize(("code", "elsewhere"), [pytest.param(*row[:2], id=row[2]) for row in ROWS])
def test_what_is_lost_elsewhere(code: str, elsewhere: bool) -> None:
    assert bool(client_losses.lost(code) or service_libraries.acts(code)) is elsewhere


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import boto3\n" + "\n".join(f"a{i} = {{}}\na{i}.delete(1)" for i in range(200)), id="many names"),
        pytest.param("import boto3\na = []\n" + "a, " * 4000 + "\na.delete(1)", id="one long line"),
        pytest.param("import boto3\na = b\nb = a\na.delete(1)", id="a circle"),
        pytest.param("import boto3\nx = " + "(" * 5000 + ")" * 5000 + ".delete(1)", id="brackets"),
    ],
)
def test_what_cannot_be_followed_counts(code: str) -> None:
    assert client_losses.lost(code)
