/* The numbers of the system calls that the filter knows, by architecture; those that a libc may not name yet. */
#ifndef SENTINEL_SYSTEM_CALLS_H
#define SENTINEL_SYSTEM_CALLS_H

#include <sys/syscall.h>

#if defined __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
/* aarch64 has only the forms with a folder. */
#define OLD_CALLS                                                                                                      \
    __NR_creat, __NR_rename, __NR_unlink, __NR_rmdir, __NR_link, __NR_symlink, __NR_mknod, __NR_chmod, __NR_chown,     \
        __NR_lchown,
#define OLD_FORKS __NR_fork, __NR_vfork,
#elif defined __aarch64__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define OLD_CALLS
#define OLD_FORKS
#else
#error "no table of system calls for this architecture"
#endif

/* The same on all architectures since Linux 5.1. */
#ifndef __NR_landlock_create_ruleset
#define __NR_landlock_create_ruleset 444
#define __NR_landlock_restrict_self 446
#endif
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#define __NR_removexattrat 466
#endif
#ifndef __NR_open_tree_attr
#define __NR_open_tree_attr 467
#endif
#ifndef __NR_file_setattr
#define __NR_file_setattr 469
#endif
#define WAIT_KILLABLE (1UL << 5)

#define HELD_CALLS                                                                                                     \
    OLD_CALLS __NR_openat2, __NR_execve, __NR_execveat, __NR_renameat, __NR_renameat2, __NR_unlinkat, __NR_linkat,     \
        __NR_symlinkat, __NR_mknodat, __NR_truncate, __NR_fchmod, __NR_fchmodat, __NR_fchmodat2, __NR_fchown,          \
        __NR_fchownat, __NR_setxattr, __NR_lsetxattr, __NR_fsetxattr, __NR_removexattr, __NR_lremovexattr,             \
        __NR_fremovexattr, __NR_file_setattr, __NR_connect, __NR_umask, __NR_mount, __NR_landlock_restrict_self,       \
        __NR_chroot, __NR_pivot_root, __NR_unshare, __NR_setns

#define ABSENT_CALLS                                                                                                   \
    __NR_clone3, __NR_io_uring_setup, __NR_io_uring_enter, __NR_io_uring_register, __NR_fsopen, __NR_fspick,           \
        __NR_open_tree, __NR_move_mount, __NR_mount_setattr, __NR_setxattrat, __NR_removexattrat, __NR_open_tree_attr

#define REFUSED_CALLS                                                                                                  \
    __NR_bpf, __NR_userfaultfd, __NR_open_by_handle_at, __NR_kexec_load, __NR_kexec_file_load, __NR_init_module,       \
        __NR_finit_module, __NR_delete_module, __NR_acct, __NR_swapon

/* What the broker itself never needs: starting a program, another's memory, being connected to, another identity. */
#define FOREIGN_CALLS                                                                                                  \
    OLD_FORKS REFUSED_CALLS, __NR_execve, __NR_execveat, __NR_ptrace, __NR_process_vm_writev, __NR_bind, __NR_listen,   \
        __NR_accept, __NR_accept4, __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_setuid,    \
        __NR_setgid, __NR_setreuid, __NR_setregid, __NR_setresuid, __NR_setresgid, __NR_setgroups, __NR_setfsuid,      \
        __NR_setfsgid, __NR_capset, __NR_perf_event_open, __NR_add_key, __NR_request_key, __NR_keyctl,                 \
        __NR_personality, __NR_pidfd_send_signal

/* They connect without connect(2) where their flags say so; the number of the argument that holds these. */
#define SENDING_CALLS {__NR_sendto, 3}, {__NR_sendmsg, 2}, {__NR_sendmmsg, 3}

#define REACHING_CALLS __NR_kill, __NR_tkill, __NR_tgkill, __NR_ptrace, __NR_process_vm_writev

#endif
