/* fake-nvml.c - stands in for libnvidia-ml.so.1: two GPUs, of which the second one is hot and used by the
 * process that asks, or by FAKE_NVML_PID; and its memory has errors.  FAKE_NVML_HANG: the driver does not
 * answer; a file of this name then says that it was asked.  FAKE_NVML_BOTH: the first one is used by the
 * process, too. FAKE_NVML_MIG: they are divided.  OLD_DRIVER: it has the names of drivers before 535.
 *
 * Loaded before another library it makes a program believe that there is a driver. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC int nvmlInit_v2(void);
PUBLIC int nvmlShutdown(void);
PUBLIC int nvmlDeviceGetCount_v2(unsigned *n);
PUBLIC int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **d);
PUBLIC int nvmlDeviceGetClockInfo(void *d, int type, unsigned *mhz);
PUBLIC int nvmlDeviceGetMaxClockInfo(void *d, int type, unsigned *mhz);
PUBLIC int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *c);
PUBLIC int nvmlDeviceGetPowerUsage(void *d, unsigned *mw);
PUBLIC int nvmlDeviceGetCurrentClocksEventReasons(void *d, unsigned long long *reasons);
PUBLIC int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *reasons);
PUBLIC int nvmlDeviceGetTotalEccErrors(void *d, int kind, int counter, unsigned long long *n);
PUBLIC int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *pending);
PUBLIC int nvmlDeviceGetPciInfo_v3(void *d, void *pci);
PUBLIC int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, void *p);
PUBLIC int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, void *p);
PUBLIC int access(const char *path, int mode);

static unsigned device[2] = { 0, 1 };

static int is_second(void *d)
{
    return *(unsigned *)d == 1;
}

int nvmlInit_v2(void)
{
    const char *hang = getenv("FAKE_NVML_HANG");

    if (hang) {
        close(open(hang, O_WRONLY | O_CREAT, 0600));
        for (;;)
            pause();
    }
    return 0;
}

int nvmlShutdown(void)
{
    return 0;
}

int nvmlDeviceGetCount_v2(unsigned *n)
{
    *n = 3; /* the third is not visible to this user */
    return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **d)
{
    if (index > 1)
        return 4; /* no permission */
    *d = &device[index];
    return 0;
}

int nvmlDeviceGetClockInfo(void *d, int type, unsigned *mhz)
{
    *mhz = is_second(d) ? 1188 : 1980;
    return type != 1;
}

int nvmlDeviceGetMaxClockInfo(void *d, int type, unsigned *mhz)
{
    (void)d;
    *mhz = 1980;
    return type != 1;
}

int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *c)
{
    *c = is_second(d) ? 91 : 60;
    return sensor;
}

int nvmlDeviceGetPowerUsage(void *d, unsigned *mw)
{
    (void)mw;
    return is_second(d) ? (*mw = 650500, 0) : 3; /* not supported by the first */
}

#ifdef OLD_DRIVER
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *reasons)
{
    *reasons = is_second(d) ? 0x08 : 0;
    return 0;
}
#else
int nvmlDeviceGetCurrentClocksEventReasons(void *d, unsigned long long *reasons)
{
    *reasons = is_second(d) ? 0x40 : 0;
    return 0;
}

/* Who asks by the old name has not looked for the new one. */
int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *reasons)
{
    (void)d;
    (void)reasons;
    return 3;
}
#endif

/* Since the driver was loaded, of the second one's memory: there were some before, and there are more each
 * time. */
int nvmlDeviceGetTotalEccErrors(void *d, int kind, int counter, unsigned long long *n)
{
    static unsigned long long errors[2] = { 100, 5 };

    if (!is_second(d) || kind < 0 || kind > 1 || counter)
        return 3;
    *n = errors[kind];
    errors[kind] += kind ? 2 : 40;
    return 0;
}

int nvmlDeviceGetMigMode(void *d, unsigned *now, unsigned *pending)
{
    (void)d;
    *now = *pending = getenv("FAKE_NVML_MIG") != NULL;
    return 0;
}

int nvmlDeviceGetPciInfo_v3(void *d, void *pci)
{
    strcpy((char *)pci + 36, is_second(d) ? "00000000:3B:00.0" : "00000000:0A:00.0");
    return 0;
}

static int processes(void *d, unsigned *n, void *p)
{
    const char *pid = getenv("FAKE_NVML_PID");

    *n = is_second(d) || getenv("FAKE_NVML_BOTH") ? 1 : 0;
    if (*n)
        *(unsigned *)p = pid ? (unsigned)atoi(pid) : (unsigned)getppid();
    return 0;
}

#ifdef OLD_DRIVER
int nvmlDeviceGetComputeRunningProcesses_v2(void *d, unsigned *n, void *p)
#else
int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, void *p)
#endif
{
    return processes(d, n, p);
}

int access(const char *path, int mode)
{
    return strcmp(path, "/dev/nvidiactl") ? faccessat(AT_FDCWD, path, mode, 0) : 0;
}
