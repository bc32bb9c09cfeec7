"""The numbers of Linux's system calls on x86-64 and aarch64, from the kernel's tables."""

import platform
import sys

# Name, x86-64, aarch64; - where the architecture does not have the call.
_ROWS = """
open 2 -|openat 257 56|openat2 437 437|creat 85 -|unlink 87 -|unlinkat 263 35|rmdir 84 -|rename 82 -|renameat 264 38
renameat2 316 276|mkdir 83 -|mkdirat 258 34|link 86 -|linkat 265 37|symlink 88 -|symlinkat 266 36|mknod 133 -
mknodat 259 33|truncate 76 45|chmod 90 -|fchmod 91 52|fchmodat 268 53|fchmodat2 452 452|chown 92 -|lchown 94 -
fchown 93 55|fchownat 260 54|setxattr 188 5|lsetxattr 189 6|fsetxattr 190 7|setxattrat 463 463|removexattr 197 14
lremovexattr 198 15|fremovexattr 199 16|removexattrat 466 466|file_setattr 469 469|utime 132 -|utimes 235 -
futimesat 261 -|utimensat 280 88|socket 41 198|socketpair 53 199|connect 42 203|bind 49 200|sendto 44 206
sendmsg 46 211|sendmmsg 307 269|execve 59 221|execveat 322 281|kill 62 129|rt_sigqueueinfo 129 138
pidfd_send_signal 424 424|prlimit64 302 261|ioctl 16 29|clone 56 220|clone3 435 435|unshare 272 97|setns 308 268
mount 165 40|umount2 166 39|move_mount 429 429|open_tree 428 428|fsopen 430 430|fsmount 432 432|fspick 433 433
fsconfig 431 431|mount_setattr 442 442|pivot_root 155 41|chroot 161 51|open_by_handle_at 304 265
io_uring_setup 425 425|io_uring_enter 426 426|io_uring_register 427 427|userfaultfd 323 282|bpf 321 280
perf_event_open 298 241|kexec_load 246 104|init_module 175 105|finit_module 313 273|delete_module 176 106
reboot 169 142|swapon 167 224|swapoff 168 225|acct 163 89|quotactl 179 60|fanotify_init 300 262|capget 125 90
capset 126 91|seccomp 317 277|landlock_create_ruleset 444 444|landlock_add_rule 445 445
landlock_restrict_self 446 446|pidfd_open 434 434|pidfd_getfd 438 438|setpriority 141 140|ioprio_set 251 30
sched_setaffinity 203 122|sched_setscheduler 144 119|sched_setparam 142 118|sched_setattr 314 274|syslog 103 116
add_key 248 217|request_key 249 218|keyctl 250 219
"""
_COLUMNS = {"x86_64": 1, "aarch64": 2}
_AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

MACHINE = platform.machine()
IS_KNOWN = sys.platform == "linux" and MACHINE in _COLUMNS
ARCHITECTURE = _AUDIT_ARCHITECTURES.get(MACHINE, 0)
_found = [row.split() for row in _ROWS.strip().replace("\n", "|").split("|")]
NUMBERS = {row[0]: int(row[_COLUMNS.get(MACHINE, 1)]) for row in _found if row[_COLUMNS.get(MACHINE, 1)] != "-"}
NAMES = {number: name for name, number in NUMBERS.items()}
