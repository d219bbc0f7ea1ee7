"""Tables of aws, gcloud, gsutil and bq. Each operation of the versions below was looked up: those of aws in botocore's
models, those of gcloud in its own command tree. What no row names asks, tags, or computes.
"""

from __future__ import annotations

from sentinel_guard.core.analysis.programs.subcommand_tables import table

VERSIONS = {
    "aws": "1.45.11 (botocore 1.43.11)",
    "gcloud": "528.0.0",
    "gsutil": "5.34",
    "bq": "2.1.18",
    "kubectl": "1.32.4",
    "terraform": "1.11.4",
    "npm": "11.19.1",
}
"""What the rows were compared with: the installed program's own list of commands."""
DRY = "** --dry-run !--dry-run=none !--dry-run=false, ** --dryrun|--noop, ** --help"

_READS_OF_AWS = (
    "get-*|list-*|describe-*|head-*|batch-get-*|lookup-*|search-*|scan|query|filter-*|select-*|tail|wait|validate-*|"
    "estimate-*|simulate-*|test-*|check-*|detect-*|preview-*|view-*|generate-*|download-*|admin-get-*|admin-list-*|"
    "batch-describe-*|batch-list-*|batch-check-*|batch-is-*|batch-detect-*|batch-evaluate-*|batch-search*|"
    "start-query|stop-query|start-live-tail|get|ls|presign|help|login|update-kubeconfig"
)
AWS = table(
    quiet=f"{DRY}, configure|sso|sts|history|help, * {_READS_OF_AWS}, cloudformation package|create-change-set, "
    "cloudformation deploy --no-execute-changeset, ** help",
    destroy="s3 rb|rm|mv, s3 sync --delete, * *delete*|terminate-*|purge-*|deregister-*|destroy-*|remove-*|revoke-*|"
    "schedule-key-deletion|close-account|stop-*|release-*|disassociate-*|detach-*|deactivate-*|disable-*|"
    "cancel-*|reset-*|"
    "rollback-*|leave-*|abort-*|empty-*|unregister-*|forget-*|discard-*|rm|rb|"
    "dispose-*|unassign-*|disconnect-*|dissociate-*|decrease-*|deprovision-*|withdraw-*|deauthorize-*|clear-*|"
    "expire-*|"
    "drain-*|unlink-*|unshare-*|unpeer-*|undeploy-*|reject-*|decline-*|retire-*|ungroup-*|shutdown-*|pause-*|evict-*|"
    "backtrack-*|flush-*|redact-*|deprecate-*|return-*|invalidate-*|global-sign-out|rebuild-*|admin-disable-*|"
    "admin-reset-*|admin-*-sign-out|unsubscribe",
    change="ses|sesv2|pinpoint send-*, "
    "s3 cp|sync|mb|website, cloudformation deploy, * create-*|put-*|update-*|modify-*|set-*|start-*|run-*|"
    "reboot-*|"
    "attach-*|associate-*|add-*|enable-*|register-*|authorize-*|restore-*|send-command|change-*|batch-write-*|"
    "transact-write-*|import-*|promote-*|failover-*|execute-change-set|publish-*|replace-*|rotate-*|activate-*|"
    "allocate-*|apply-*|assign-*|grant-*|copy-*|accept-*|invite-*|deploy|push|continue-*|resume-*|suspend-*|swap-*|"
    "upgrade-*|upload-*|request-*|unlock-*|complete-*|switchover-*|subscribe|redrive-*|move-*|initialize-*|install*|"
    "batch-*|purchase-*|submit-job|merge-*|transfer-*|provision-*|restart-*|resize-*|replicate-*|claim-*|share-*|"
    "reserve-*|migrate-*|promote|rename-*|split-*|rebalance-*|convert-*|issue-*|regenerate-*|admin-*|process-payment",
)
_GCLOUD_READS = (
    "list|describe|read|tail|print-*|get-*|list-*|describe-*|lookup|search*|diff|wait|validate|config-helper|show|"
    "check*|"
    "get|browse|export|locations|versions-list"
)
GCLOUD = table(
    quiet=f"config|auth|info|components|help|topic|version|init|emulators|feedback|cheat-sheet, "
    f"alpha|beta emulators, ** {_GCLOUD_READS}",
    destroy="** delete|remove|remove-*|rm|undeploy|destroy|purge|stop|suspend|disable|abandon*|undeploy-*|"
    "terminate|unenroll|unlink|deny|reimage|request-delete|"
    "reset-*|revert|stop-*|suspend-*|recreate-*|cancel-*|cleanup|deprecate|invalidate-*|switchover|unset|pause|"
    "release-*|"
    "perform-storage-shrink|drain|rollback|detach*|"
    "seek|clear-*|set-iam-policy|schedule-destroy|reset|revoke|cancel|failover|disable-*|delete-*|kill|deactivate",
    change="** deploy|create|update|set-*|add-*|import|start|resize|patch|promote*|submit|enable|apply|replace*|"
    "migrate|restore*|restart|resume|execute|rolling-action|cp|mv|rsync|set|bind|attach*|activate|move|scp|"
    "update-*|create-*|"
    "add|undelete|upgrade|enroll|perform-maintenance|upload|rename|publish|approve|import-*|provision|repair|"
    "register|clone*|"
    "rotate|edit|convert|load|commit|insert|install|switch|link|authorize|allow|deploy-*|mutate-*|upsert-*|reboot|"
    "instantiate*|trigger-backup|point-in-time-restore|modify-*|alter-*|move-*|resize-*|reencrypt|expand-*|"
    "start-*ation|"
    "start-instances|resume-*|establish-*|enable-*",
)
GSUTIL = table(
    quiet="iam|acl|defacl|cors|lifecycle|versioning|logging|web|label|retention|notification|pap|autoclass|kms|"
    "hmac|rpo|ubla|"
    "bucketpolicyonly|requesterpays|defstorageclass get|list, rsync -n",
    destroy="rm, rb, mv, rsync -d, acl|defacl|label ch -d, retention clear",
    change="cp, rsync, mb, iam|acl|defacl|cors|lifecycle|versioning|logging|web|label|retention|notification|rewrite|"
    "setmeta|pap|autoclass|kms|hmac|rpo|ubla|bucketpolicyonly|requesterpays|defstorageclass|compose",
)
BQ = table(
    quiet="** --dry_run|--help",
    destroy="rm, truncate, load --replace, cp -f, query --replace",
    change="update, cancel, set-iam-policy, add-iam-policy-binding, remove-iam-policy-binding, undelete, insert",
)
