# config.sh - the files of a private cluster: Slurm's, munge's, SyncGuard's.  Sourced by `slurm`, and by
# inside.sh for the addresses.  Uses DIR, NODES, CPUS, LEAF, SPINES, DEAL, PREFIX, EXTRA, BESIDE,
# ACCOUNTING.

# Every cluster has its own network namespace, so all may use the same addresses.
CONTROL_ADDRESS=10.77.0.1
NETMASK=16

node_address() { # INDEX
    echo "10.77.$((1 + ($1 - 1) / 250)).$((1 + ($1 - 1) % 250))"
}

last_leaf() {
    echo $(((NODES - 1) / LEAF))
}

node_mac() { # INDEX
    printf '02:00:0a:4e:%02x:%02x\n' $(($1 / 256)) $(($1 % 256))
}

leaf_of() { # INDEX
    if [ -n "$DEAL" ]; then
        echo $((($1 - 1) % ($(last_leaf) + 1)))
    else
        echo $((($1 - 1) / LEAF))
    fi
}

place_on_leaf() { # INDEX
    if [ -n "$DEAL" ]; then
        echo $((($1 - 1) / ($(last_leaf) + 1)))
    else
        echo $((($1 - 1) % LEAF))
    fi
}

port_to() { # LEAF SPINE: "0", "0.1" ...: behind up and down, the name of the link between them
    if (($2 == 0)); then
        echo "$1"
    else
        echo "$1.$2"
    fi
}

# What Open MPI needs here: the nodes' own network, and a core given away while it waits (the ranks outnumber
# the cores of one machine: 190 ms instead of 1-2 ms for 64 KiB on 16 ranks without).  Single-copy through
# ptrace's rights is not there for everybody inside namespaces.
# MPICH (--mpi=pmi2) is left as it is: within a node it works; between nodes Debian's 4.0.2 with UCX computes, and then
# hangs in half of the runs inside MPI_Finalize (one rank flushes an endpoint whose peer waits in PMI already).
MPI_SETTINGS=(
    OMPI_MCA_pml=ob1
    OMPI_MCA_btl=tcp,vader,self
    OMPI_MCA_btl_tcp_if_include=eth0
    OMPI_MCA_btl_vader_single_copy_mechanism=none
    OMPI_MCA_mpi_yield_when_idle=1
)

write_hosts() {
    local i

    echo "127.0.0.1 localhost"
    echo "$CONTROL_ADDRESS ctl"
    for ((i = 1; i <= NODES; i++)); do
        echo "$(node_address "$i") node$i"
    done
}

# The kernel keeps at most 1,024 entries (net.ipv4.neigh.default.gc_thresh3) for all hosts of this machine together, and where each host talks
# to each other that is not enough for more than 32. Permanent entries do not count.
write_neighbours() {
    local i

    for ((i = 1; i <= NODES; i++)); do
        echo "neigh replace $(node_address "$i") lladdr $(node_mac "$i") nud permanent dev eth0"
    done
}

write_slurm_conf() {
    local i user

    user=$(id -un)
    cat <<CONF
ClusterName=private
SlurmctldHost=ctl($CONTROL_ADDRESS)
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/sock
CredType=cred/munge
StateSaveLocation=$DIR/state/slurmctld
SlurmdSpoolDir=$DIR/spool/%n
# one for each node: all of them share one file system, and PMIx makes folders of the same name there
TmpFS=$DIR/tmp/%n
SlurmctldPidFile=$DIR/run/slurmctld.pidfile
SlurmdPidFile=$DIR/run/slurmd.%n.pidfile
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd.%n.log
SlurmctldDebug=info
SlurmdDebug=info
ProctrackType=proctrack/linuxproc
# task/affinity would pin every node's core 0 to this machine's core 0
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/$([ -n "$ACCOUNTING" ] && echo slurmdbd || echo none)
AccountingStorageHost=ctl
# munge's socket, towards slurmdbd
AccountingStoragePass=$DIR/munge/sock
JobCompType=jobcomp/filetxt
JobCompLoc=$DIR/log/jobcomp.txt
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=5,bf_interval=2
TopologyPlugin=topology/tree
SwitchType=switch/none
MpiDefault=pmix
PropagateResourceLimits=NONE
ReturnToService=2
MailProg=/bin/true
SlurmctldTimeout=30
# a node that a busy machine keeps waiting is not down; who keeps accounts of nodes wants to see one go
SlurmdTimeout=$([ -n "$ACCOUNTING" ] && echo 20 || echo 300)
MessageTimeout=$([ -n "$ACCOUNTING" ] && echo 10 || echo 60)
KillWait=5
PlugStackConfig=$DIR/etc/plugstack.conf
CONF
    for ((i = 1; i <= NODES; i++)); do
        echo "NodeName=node$i NodeAddr=$(node_address "$i") CPUs=$CPUS RealMemory=1000 State=UNKNOWN"
    done
    echo "PartitionName=main Nodes=node[1-$NODES] Default=YES MaxTime=INFINITE State=UP"
    if [ -n "$EXTRA" ]; then
        cat "$EXTRA"
    fi
}

# Its database listens in the control host's network alone, and asks for no password.
write_slurmdbd_conf() {
    cat <<CONF
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/sock
DbdHost=ctl
SlurmUser=$(id -un)
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StorageUser=slurm
StoragePass=none
LogFile=$DIR/log/slurmdbd.log
PidFile=$DIR/run/slurmdbd.pidfile
CONF
}

write_topology() {
    local i of=()

    for ((i = 1; i <= NODES; i++)); do
        of[$(leaf_of "$i")]+=,$i
    done
    for i in "${!of[@]}"; do
        echo "SwitchName=leaf$i Nodes=node[${of[i]#,}]"
    done
    for ((i = 0; i < SPINES; i++)); do
        echo "SwitchName=spine$i Switches=leaf[0-$(last_leaf)]"
    done
}

write_mpi_conf() {
    local IFS=';'

    # with the default fence 2-17 % of the programs crash or hang in MPI_Init (Slurm 22.05, PMIx 4.2)
    echo "PMIxCollFence=ring"
    echo "PMIxEnv=${MPI_SETTINGS[*]}"
}

write_syncguard_conf() {
    cat <<CONF
Controller=ctl
AuthInfo=socket=$DIR/munge/sock
StateDir=$DIR/state/syncguard
LogFile=$DIR/log/syncguardd.log
SlurmUser=$(id -un)
AgentPath=$PREFIX/libexec/syncguard/syncguard-agent
CredentialPath=$PREFIX/libexec/syncguard/syncguard-credential
ProbePath=$PREFIX/lib/syncguard/libsyncguard_probe.so
CONF
}

write_files() {
    local etc=$DIR/etc

    mkdir -p "$etc/plugstack.d" "$DIR"/{log,spool,tmp,munge/private,state/slurmctld}
    chmod 700 "$DIR/munge/private"
    (umask 077 && head -c 1024 /dev/urandom >"$DIR/munge/private/key")
    write_hosts >"$etc/hosts"
    ((NODES <= 24 || NODES > 256)) || write_neighbours >"$etc/neighbours"
    write_slurm_conf >"$etc/slurm.conf"
    [ -z "$BESIDE" ] || cp "$BESIDE" "$etc/"
    [ -z "$ACCOUNTING" ] || (umask 077 && write_slurmdbd_conf >"$etc/slurmdbd.conf")
    write_topology >"$etc/topology.conf"
    write_mpi_conf >"$etc/mpi.conf"
    # no cgroup is used; this keeps slurmd from looking for one
    echo "CgroupPlugin=cgroup/v1" >"$etc/cgroup.conf"
    echo "include $etc/plugstack.d/*.conf" >"$etc/plugstack.conf"
    if [ -n "$PREFIX" ]; then
        mkdir -p "$DIR/state/syncguard"
        write_syncguard_conf >"$etc/syncguard.conf"
        # on a busy machine an answer of the controller takes longer than a user's srun should wait for it
        echo "optional $PREFIX/lib/syncguard/syncguard.so conf=$etc/syncguard.conf answer=60s" \
            >"$etc/plugstack.d/syncguard.conf"
    fi
}
