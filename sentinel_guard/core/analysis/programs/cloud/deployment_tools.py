"""Tools that bring a project to a cluster (skaffold, werf), or a contract to a chain (forge, hardhat, solana).

What they reach stands in an option or in their settings: where a cluster or a node of this machine is named, nothing
happens to others. On a chain nothing is taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from sentinel_guard.core.analysis import network_addresses
from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.cloud import local_clusters, local_ends
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.model import Effect

_HELP = "** --help|-h|--version"
_TRIED = f"{_HELP}, ** --dry-run|--diff-run|--simulate"

_TEST_CHAINS: tuple[str, ...] = (
    *("localhost", "localnet", "local*", "hardhat", "anvil", "ganache", "development", "develop", "test", "l"),
    *("*sepolia*", "*holesky*", "*goerli*", "*testnet*", "*devnet*", "*amoy*", "*fuji*", "d", "t"),
)
"""Of this machine, and those whose coins are worth nothing."""

CLUSTERS: dict[str, tuple[Row, ...]] = {
    "skaffold": table(quiet=_TRIED, destroy="delete", change="run|deploy|apply"),
    "werf": table(quiet=_TRIED, destroy="dismiss|cleanup|purge, helm uninstall|delete, host purge",
                  change="converge, plan --auto-apply, bundle apply|publish, helm upgrade|install, export"),
    "devspace": table(quiet=_TRIED, destroy="purge", change="deploy, run-pipeline deploy"),
    "okteto": table(quiet=_TRIED, destroy="destroy|down, namespace delete, preview destroy",
                    change="deploy, preview deploy, pipeline deploy"),
    "garden": table(quiet=_TRIED, destroy="delete, cleanup namespace|deploy", change="deploy|publish"),
    "kapp": table(quiet=_TRIED, destroy="delete, app-group delete", change="deploy, app-group deploy"),
    "kluctl": table(quiet=_TRIED, destroy="delete|prune|poke-images", change="deploy"),
    "odo": table(quiet=_TRIED, destroy="delete, delete component|namespace", change="deploy"),
    "tanka": table(quiet=_TRIED, destroy="delete|prune", change="apply"),
    "timoni": table(quiet=_TRIED, destroy="delete, bundle delete", change="apply, bundle apply"),
}  # fmt: skip
CHAINS: dict[str, tuple[Row, ...]] = {
    "cast": table(quiet=_HELP, change="send|s|publish|p"),
    "forge": table(quiet=_HELP, change="script|create --broadcast, script --resume"),
    "hardhat": table(quiet=_HELP, change="run|deploy|verify --network, ignition deploy --network, * * --network"),
    "truffle": table(quiet=f"{_HELP}, migrate --dry-run", change="migrate|deploy|exec --network"),
    "brownie": table(quiet=_HELP, change="run --network"),
    "ape": table(quiet=_HELP, change="run --network"),
    "anchor": table(quiet=_HELP, change="deploy|upgrade|migrate --provider.cluster"),
    "solana": table(quiet=_HELP, destroy="program close, close-vote-account",
                    change="transfer, program deploy|write-buffer|upgrade|set-upgrade-authority"),
    "spl-token": table(quiet=_HELP, destroy="burn|close", change="transfer|mint|authorize|create-token"),
    "near": table(quiet=_HELP, destroy="delete|delete-account, account delete-account", change="deploy|send|call|"
                  "contract|tokens"),
    "sui": table(quiet=_HELP, change="client publish|upgrade|call|transfer|transfer-sui|pay|pay-sui|ptb"),
    "aptos": table(quiet=_HELP, change="move publish|run|deploy-object, account transfer"),
    "soroban": table(quiet=f"{_HELP}, contract build|inspect|info", change="contract deploy|invoke|upload|install, "
                     "tx send"),
    "sncast": table(quiet=_HELP, change="deploy|invoke|declare"),
    "bitcoin-cli": table(quiet=_HELP, change="sendtoaddress|sendmany|sendrawtransaction|send|sendall"),
}  # fmt: skip
"""What is sent there is paid for, and stays."""
TABLES = CLUSTERS | CHAINS

_CONTEXTS = ("--kube-context", "--context")
_NODES = ("--rpc-url", "-r", "--fork-url", "--network", "--provider.cluster", "--url", "-u", "--rpc", "--networkId")


def deploy(call: Call) -> Iterable[Effect]:
    """What changes for others; nothing where all that is named as the other end is of this machine, or for trials."""
    program = call.command.program
    names, apart = (_CONTEXTS, local_clusters.LOCAL_CONTEXTS) if program in CLUSTERS else (_NODES, _TEST_CHAINS)
    given = call.head.values(*names) or call.parsed.values(*names)
    if given and all(item.known and _is_apart(item.text, apart) for item in given):
        return ()
    if program in CLUSTERS and not given and local_ends.is_here(call):
        return ()
    if program in ("cast", "forge") and not given and not _sets_node(call):
        return ()  # their own default is a node of this machine
    where = f"{program} {given[-1].text}" if given else program
    return subcommand_tables.effects(call, TABLES[program], where)


def _is_apart(name: str, patterns: Sequence[str]) -> bool:
    local = "://" in name and network_addresses.is_local_address(name)
    return local or any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


def _sets_node(call: Call) -> bool:
    node = call.scope.lookup("ETH_RPC_URL")
    return node.isset and not (node.known and all(network_addresses.is_local_address(text) for text in node.items))


_AT = "--rpc-url= -r= --fork-url= --network= --provider.cluster= --url= -u= --rpc= --networkId= "
OPTIONS = {
    **dict.fromkeys(CLUSTERS, options("--kube-context= --context= -n= --namespace= -p= --profile= -f= --filename= "
                                      "--env= -a= --app= --kubeconfig= | sub")),
    **dict.fromkeys(CHAINS, options(f"{_AT} --private-key= --keystore= --account= --from= --keypair= -k= --value= "
                                    "--gas-limit= --config= --program-id= --source= | sub")),
}  # fmt: skip
PROGRAMS: dict[str, Callable[[Call], Iterable[Effect]]] = dict.fromkeys(TABLES, deploy)
