"""Tools that bring a project to a cluster or a contract to a chain: where they reach others. Only parsed."""

from __future__ import annotations

import pytest

from tests.support.command_tables import Group, brief, cases

GROUPS: list[Group] = [
    ("deploy", "a cluster", ("skaffold run -p prod --kube-context prod-eu", "skaffold deploy", "werf converge",
     "devspace deploy", "okteto deploy", "kapp deploy -a x -f k8s", "skaffold run --kube-context $CTX")),
    ("deploy delete", "taken down again", ("skaffold delete", "werf dismiss", "kapp delete -a x")),
    ("", "a cluster of this machine", ("skaffold run --kube-context kind-dev", "skaffold run --kube-context=minikube")),
    ("", "a loop of work, a look", ("skaffold dev", "skaffold render", "kapp ls", "werf build", "skaffold run --help")),
    ("deploy", "a chain", ("cast send 0x5F 'f()' --rpc-url https://mainnet.example.com --private-key $K",
     "forge script a.sol --rpc-url https://mainnet.example.com --broadcast", "solana transfer X 1",
     "forge create src/A.sol:A --rpc-url $RPC --broadcast", "npx hardhat run deploy.js --network mainnet",
     "npx hardhat ignition deploy ./a.ts --network mainnet", "solana program deploy target/a.so",
     "anchor deploy --provider.cluster mainnet", "truffle migrate --network mainnet", "near deploy a.near x.wasm",
     "sui client publish", "aptos move publish", "ETH_RPC_URL=https://x.example.com cast send 0x5F 'f()'")),
    ("", "a chain of this machine", ("cast send 0x5F 'f()' --rpc-url http://localhost:8545", "cast send 0x5F 'f()'",
     "forge script a.sol --rpc-url http://127.0.0.1:8545 --broadcast", "solana program deploy a.so -u localhost",
     "npx hardhat run deploy.js --network localhost", "anchor deploy", "truffle migrate")),
    ("", "a chain for trials", ("forge create src/A.sol:A --rpc-url sepolia --broadcast",
     "npx hardhat run deploy.js --network sepolia", "solana program deploy a.so -u devnet")),
    ("", "looks, or works here", ("cast call 0x5F 'f()' --rpc-url https://mainnet.example.com", "forge test",
     "npx hardhat test", "solana balance", "near view a.near f", "sui move build",
     "forge script a.sol --rpc-url https://mainnet.example.com")),
]  # fmt: skip


@pytest.mark.parametrize(("command", "what"), cases(GROUPS))
def test_what_a_deployment_changes(command: str, what: str) -> None:
    assert brief(command) == what
