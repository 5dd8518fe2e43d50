/* fake-nvml.c - stands in for libnvidia-ml.so.1: two GPUs, of which the second one is hot and used by the
 * process that asks.  FAKE_NVML_HANG: the driver does not answer; a file of this name then says that it was
 * asked. */
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
PUBLIC int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *reasons);
PUBLIC int nvmlDeviceGetPciInfo_v3(void *d, void *pci);
PUBLIC int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, void *p);

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

int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *reasons)
{
    *reasons = is_second(d) ? 0x40 : 0;
    return 0;
}

int nvmlDeviceGetPciInfo_v3(void *d, void *pci)
{
    strcpy((char *)pci + 36, is_second(d) ? "00000000:3B:00.0" : "00000000:0A:00.0");
    return 0;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *d, unsigned *n, void *p)
{
    *n = is_second(d) ? 1 : 0;
    if (*n)
        *(unsigned *)p = (unsigned)getppid();
    return 0;
}
