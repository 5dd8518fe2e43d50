/* scr_standin.c - stands in for SCR: wants a checkpoint at the 8th question, and checks that writes are begun
 * and completed in pairs. */
int SCR_Need_checkpoint(int *flag);
int SCR_Start_checkpoint(void);
int SCR_Complete_checkpoint(int valid);

static int asked, inside;

__attribute__((visibility("default"))) int SCR_Need_checkpoint(int *flag)
{
    *flag = ++asked == 8;
    return 0;
}

__attribute__((visibility("default"))) int SCR_Start_checkpoint(void)
{
    return inside++;
}

__attribute__((visibility("default"))) int SCR_Complete_checkpoint(int valid)
{
    return !(inside-- && valid);
}
