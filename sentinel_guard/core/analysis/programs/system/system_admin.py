"""Programs that change the machine as a whole: network, firewall, accounts, services, packages, clock, boot.

Tables only; ``subcommand_tables.py`` says how a row reads. What no row names does nothing: most of these programs are
asked for news.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sentinel_guard.core.analysis.expansion.command_and_options import Call, options
from sentinel_guard.core.analysis.programs import subcommand_tables
from sentinel_guard.core.analysis.programs.subcommand_tables import Row, table
from sentinel_guard.core.model import Effect, Kind

Effects = Iterable[Effect]

_HELP = "--help|-h|--version|-V"

TABLES: dict[str, tuple[Row, ...]] = {
    # network
    "ip": table(network="link|l set|s ** down, link|l delete|del|d, addr|address|a flush|f|del|delete|d, route|ro|r "
        "flush|f|del|delete|d|replace|change, "
                "netns delete|del|d, rule|ru flush|del|delete, tunnel del|delete, xfrm ** flush|delete"),
    "ifconfig": table(network="* ** down|delete, ** -alias"), "ifdown": table(network="**"),
    "route": table(network="del|delete|flush"),
    "nmcli": table(network="connection|con|c down|delete|del|d|modify|edit, networking|net|n off, radio|r ** off, "
        "device|dev|d disconnect|delete|down"),
    "networkctl": table(network="down|delete|reconfigure"), "wg-quick": table(network="down"),
        "tailscale": table(network="down|logout|set"),
    "tc": table(network="** add|del|delete|replace|change"), "rfkill": table(network="block"),
        "brctl": table(network="delbr|delif"),
    "ovs-vsctl": table(network="del-*|emer-reset"), "netplan": table(network="apply|set"),
        "networksetup": table(network="** -setairportpower|-setnetworkserviceenabled|-setdnsservers|-setwebproxy|"
        "-removenetworkservice"),
    # devices on a cable
    "fastboot": table(quiet="devices|getvar|reboot|help",
                      volume="flashing|oem|erase|format|flash|flashall|update|set_active, ** -w"),
    **dict.fromkeys(("espefuse.py", "espefuse"), table(
        volume="** burn*|write_protect*|write-protect*|set_flash*|set-flash*")),
    **dict.fromkeys(("esptool.py", "esptool"), table(volume="** erase_flash|erase-flash")),
    "avrdude": table(volume="** -U=*fuse*, ** -U=*lock*"), "nrfjprog": table(volume="** --eraseall|--recover"),
    **dict.fromkeys(("st-flash", "pyocd", "probe-rs", "picotool", "bossac", "nrfutil", "espflash", "idf.py"),
                    table(volume="erase*|recover|unlock, * erase*|recover, ** -e|--erase|--mass-erase !-w")),
    "STM32_Programmer_CLI": table(volume="** -e|--erase|-rdu|--readunprotect"),
    "dfu-util": table(volume="** -s=*mass-erase*, ** --dfuse-address=*mass-erase*"),
    "fido2-token": table(volume="** -R|-D"),
    **dict.fromkeys(("mspdebug", "wchisp", "stm32flash", "teensy_loader_cli", "uuu", "nvflash", "rkdeveloptool"), table(
        volume="erase*, * erase*, ** erase*|ef|mass-erase, ** -o")),
    # servers by their own controllers
    "ipmitool": table(quiet="** chassis status|identify, ** power status", power="** power off|cycle|reset|soft, "
                      "** mc reset", users="** user set|disable|enable", logs="** sel clear",
                      boot="** bootdev|bootparam, ** raw"),
    **dict.fromkeys(("racadm", "hponcfg", "ilorest", "storcli", "storcli64", "perccli", "megacli", "ssacli"), table(
        volume="** resetconfig*|deletevd*|cryptographicerase*|systemerase|racresetcfg|del|delete|initialize|clear*",
        power="** racreset|serveraction")),
    "uci": table(network="commit"),
    # firewall
    **dict.fromkeys(("iptables", "ip6tables", "iptables-legacy", "ebtables", "arptables"), table(
        quiet=f"** -L|--list|-S|--list-rules|-C|--check|{_HELP}, .  !-F !--flush !-X !-Z !-P !-A !-I !-D !-N "
            f"!--policy", firewall="**",
    )),
    "iptables-restore": table(quiet="** -t|--test", firewall="**"), "ip6tables-restore": table(quiet="** -t|--test",
        firewall="**"),
    "nft": table(quiet="list|monitor|describe|export, ** -c|--check", firewall="flush|delete|destroy|add|insert|"
        "replace|reset|create|rename, . -f|--file, * -f|--file"),
    "ufw": table(quiet="status|show|version|help, app list|info, ** --dry-run", firewall="**"),
    "firewall-cmd": table(quiet=". --state|--list-all|--get-active-zones|--get-zones|--get-default-zone|"
        "--list-all-zones|--list-ports|--list-services|"
                          "--get-services|--version|--help|--query-port|--query-service|--query-panic|"
                              "--list-rich-rules|--check-config", firewall="**"),
    "ipset": table(quiet="list|save|test|help|version, ** -L", firewall="**"), "pfctl": table(quiet="** -s|-n",
        firewall="** -d|-F|-f|-e|-k"),
    # security
    "setenforce": table(security="0|Permissive|permissive"), "auditctl": table(security="** -D|-d|-W, ** -e=0"),
    "csrutil": table(security="disable|clear|enable, authenticated-root disable"), "spctl": table(security="** "
        "--master-disable|--global-disable|--disable|--add"),
    "apparmor_parser": table(security="** -R|--remove|-C|--Complain"),
    "fsfreeze": table(kernel_setting="** -f|--freeze"),
    "setsebool": table(security="**"), "semanage": table(security="permissive"), "mokutil": table(security="** "
        "--disable-validation|--reset|--delete"),
    **dict.fromkeys(("aa-teardown", "aa-disable", "aa-complain"), table(security="**")),
        "fail2ban-client": table(security="stop|unban|reload|set"),
    "trust": table(security="anchor"), "p11-kit": table(security="anchor"),
    "update-ca-trust": table(quiet="** --help, check", security="**, ."), "caddy": table(security="trust|untrust"),
    "keytool": table(security="** -importcert|-import|-delete -cacerts, "
        "** -importcert|-import|-delete -keystore=*cacerts*"),
    "reptyr": table(ptrace="**"),
    # accounts
    **dict.fromkeys(("useradd", "userdel", "usermod", "groupadd", "groupdel", "groupmod", "chpasswd", "visudo",
        "adduser", "deluser", "addgroup",
                     "delgroup", "gpasswd", "vipw", "vigr", "chsh", "newusers", "chfn", "groupmems", "chgpasswd"),
                    table(quiet="** --help|--version|-h, ** -c|--check", users="**")),
    "passwd": table(quiet="** -S|--status|--help", users="**"), "chage": table(quiet="** -l|--list|--help", users="**"),
    "dscl": table(users="** -delete|-create|-append|-passwd|-merge|-change, ** delete|create|append|passwd"),
    "sysadminctl": table(users="** -deleteUser|-addUser|-resetPasswordFor|-newPassword"),
        "dseditgroup": table(users="** -o=delete, ** -o=create, ** -o=edit"),
    "security": table(security="add-trusted-cert|remove-trusted-cert|trust-settings-import",
        users="delete-*|set-keychain-password|authorizationdb|remove-*"),
    "resolvectl": table(network="dns|domain|revert|dnssec|dnsovertls"), "loginctl": table(starts="enable-linger",
        power="poweroff|reboot|halt|suspend|hibernate", users="terminate-*|kill-*"),
    # services
    "service": table(quiet="** --status-all|--help", service="* stop|force-reload|force-stop|disable"),
    "rc-service": table(service="* stop"), "rc-update": table(service="del|delete", starts="add"),
        "initctl": table(service="stop|kill"),
    "sv": table(service="down|stop|exit|kill|force-stop|d|x|shutdown"), "chkconfig": table(service="* off, ** --del"),
    "update-rc.d": table(service="* remove|disable", starts="* defaults|enable"),
    "pm2": table(starts="startup", service="delete|stop|kill|del all, kill"),
        "supervisorctl": table(service="stop|shutdown|remove"),
    "monit": table(service="stop|unmonitor|quit"),
    "launchctl": table(starts="load|bootstrap|enable|submit",
        service="unload|bootout|remove|disable|kill|stop|reboot|unsetenv|config"),
    "svcadm": table(service="disable"),
    # packages
    "aptitude": table(packages="remove|purge"), "dpkg": table(quiet="** --dry-run|--no-act|--simulate", packages="** "
        "-r|-P|--remove|--purge"),
    "rpm": table(quiet="** --test|-q|--query", packages="** -e|--erase"),
    "pacman": table(quiet="** -p|--print", packages="** -R|--remove"), "yay": table(packages="** -R|--remove"),
        "paru": table(packages="** -R|--remove"),
    "zypper": table(quiet="** -D|--dry-run", packages="rm|remove"), "emerge": table(quiet="** -p|--pretend",
        packages="** -C|--unmerge|-c|--depclean"),
    "snap": table(packages="remove|disable|revert"), "flatpak": table(packages="uninstall|remove"),
    "nix-env": table(packages="** -e|--uninstall, ** --delete-generations"),
        "nix-collect-garbage": table(packages="** -d|--delete-old|--delete-older-than"),
    **dict.fromkeys(("port", "winget", "scoop", "eopkg", "pkg", "pkgin", "opkg", "pkg_delete", "swupd"),
                    table(packages="uninstall|remove|delete|bundle-remove|autoremove")),
    "xbps-remove": table(quiet="** -n|--dry-run", packages="**"), "dpkg-reconfigure": table(packages="**"),
    "update-alternatives": table(packages="** --remove|--remove-all|--set|--install|--config"),
    # clock, names, logs, boot
    "date": table(clock="** -s|--set"), "timedatectl": table(clock="set-*"), "hwclock": table(clock="** --set|-w|"
        "--systohc|-s|--hctosys|--adjust"),
    **dict.fromkeys(("ntpdate", "sntp"), table(quiet="** -q", clock="**")),
    "hostnamectl": table(kernel_setting="set-*, hostname|icon-name *"), "hostname": table(quiet="** -f|-i|-I|-s|-d|-A|"
        "-y|--fqdn|--short|--help", kernel_setting="*"),
    "journalctl": table(logs="** --vacuum-time|--vacuum-size|--vacuum-files|--relinquish-var"),
        "dmesg": table(logs="** -C|--clear|-c|--read-clear"),
    "logrotate": table(quiet="** -d|--debug", logs="** -f|--force"),  # and its state file: below
    "efibootmgr": table(boot="** -B|--delete-bootnum|-b|-o|--bootorder|-c|--create|-n|--bootnext|-O|-N|-a|-A|-D|"
        "--remove-dups"),
    **dict.fromkeys(("grub-install", "grub2-install", "update-grub", "grub-mkconfig", "grub2-mkconfig",
        "grub-set-default", "grub-reboot", "lilo",
                     "update-initramfs", "dracut", "mkinitcpio"), table(quiet=f"** {_HELP}|-l", boot="**")),
    **dict.fromkeys(("nixos-rebuild", "darwin-rebuild"), table(boot="switch|boot|test")),
    "bootctl": table(boot="install|remove|update|set-*|unlink|cleanup"), "flashrom": table(boot="** -w|--write|-E|"
        "--erase"),
    "fwupdmgr": table(boot="install|update|downgrade|local-install|reinstall"), "nvram": table(boot="** -c|-d, *=*"),
        "bless": table(boot="** --setBoot|--device"),
    "pmset": table(power="sleepnow|restoredefaults|schedule|repeat"), "rtcwake": table(power="**"),
        "gnome-session-quit": table(power="**"),
    "swapoff": table(quiet=f"** {_HELP}", kernel_setting="** -a|--all, *"), "swapon": table(quiet="** --show|-s|"
        "--summary", kernel_setting="** -a|--all, *"),
    "defaults": table(kernel_setting="delete|delete-all|rename|import"), "scutil": table(kernel_setting="** --set"),
    "systemsetup": table(kernel_setting="** -settimezone|-setcomputername|-setremotelogin|-setsleep"),
}  # fmt: skip


def machine(call: Call) -> Iterator[Effect]:
    """One row of the table; a service that is stopped is also a process that gets a signal."""
    found = subcommand_tables.what(call, TABLES[call.command.program])
    yield from subcommand_tables.effects(call, TABLES[call.command.program])
    if found == "service":
        names = [item.text for item in call.operands] or [call.command.subcommand]
        yield call.effect(Kind.SIGNAL, names[0])


def logrotate(call: Call) -> Iterator[Effect]:
    """It writes what it did into a file of state."""
    for item in call.parsed.values("-s", "--state"):
        yield from call.write(item, "truncate")
    yield from machine(call)


def keychain(call: Call) -> Iterator[Effect]:
    """``security`` of macOS: all keys at once come before whoever asked."""
    if call.command.subcommand in ("dump-keychain", "export"):
        yield call.effect(Kind.READ, f"{call.world.home}/Library/Keychains/login.keychain-db", "shown")
    yield from machine(call)


_MANAGERS = options("-o= -c= -t= --option= --target-release= --config-file= | sub")
OPTIONS = {
    **dict.fromkeys(("apt", "apt-get", "aptitude"), _MANAGERS),
    **dict.fromkeys(("dnf", "yum", "microdnf", "zypper"), options("-c= -x= --exclude= --installroot= -R= --root= -D | "
        "sub")),
    **dict.fromkeys(("ip", "nmcli", "networkctl", "loginctl", "hostnamectl", "timedatectl"), options("-f= -n= -H= -M= "
        "-p= | sub")),
    "ip": options("-f= -n= -netns= -family= -l= -rc= | sub words"),
    "auditctl": options("-e= -d= -a= -w= -W= -k= -F= -S= -p="),
    "iptables": options("-t= --table= -A= -I= -D= -P= --policy= -N= -p= -s= -d= -i= -o= -j= -m="),
    "nft": options("-f= --file= -I= -D= | sub"),
    **dict.fromkeys(("networksetup", "ifconfig", "STM32_Programmer_CLI"), options("| words")),
    "dfu-util": options("-a= -s= --dfuse-address= -d= -D= -U= -p= -c= -i="),
    "ipmitool": options("-I= -H= -U= -P= -p= -L= -f= -E"),
    "avrdude": options("-p= -c= -P= -b= -B= -C= -U= -E= -i= -x="),
    **dict.fromkeys(("esptool.py", "esptool", "espefuse.py", "espefuse"), options(
        "--port= -p= --baud= -b= --chip= -c= --before= --after= | sub")),
    "dscl": options("| words"),
    "sysadminctl": options("| words"),
    "keytool": options("-keystore= -alias= -file= -storepass= -storetype= | words"),
    "dseditgroup": options("-o= -a= -t= -n= -u= -P="),
    "systemsetup": options("| words"),
    "nix-env": options("-p= --profile= -f= --file= -A="),
    "date": options("-d= --date= -f= --file= -r= --reference= -s= --set= -I="),
    "nvram": options("-d= -f="),
    "rtcwake": options("-m= -s= -t="),
    "journalctl": options("-u= --unit= -n= --lines= -S= --since= -U= --until= -o= --output= -p= --priority= -t= -g= "
        "--grep= -b= -M= -D= _="),
}  # fmt: skip
OPTIONS |= dict.fromkeys(("ip6tables", "iptables-legacy", "ebtables", "arptables"), OPTIONS["iptables"])
OPTIONS |= dict.fromkeys(
    ("launchctl", "snap", "flatpak", "ufw", "csrutil", "security", "defaults", "pmset", "tailscale",
        "wg-quick", "bootctl", "fwupdmgr",
                 "netplan", "winget", "scoop", "port", "eopkg", "pkg", "opkg", "rc-update", "initctl", "sv"),
    options("| sub"),
)  # fmt: skip

OPTIONS |= dict.fromkeys(
    ("nixos-rebuild", "darwin-rebuild"), options("--flake= --target-host= --build-host= -I= -p= | sub")
)
OPTIONS["logrotate"] = options("-s= --state= -l= --log= -m= --mail=")

PROGRAMS: dict[str, Callable[[Call], Effects]] = dict.fromkeys(TABLES, machine)
PROGRAMS |= {"logrotate": logrotate, "security": keychain}
