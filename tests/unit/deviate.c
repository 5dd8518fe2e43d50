/* Quantiles against published tables. */
#include "model/deviate.h"

#include "tests/tap.h"

static const struct {
    double p, z;
} normal[] = { { 0.5, 0 },
               { 0.25, -0.6744897501960817 }, /* this and the next but one are Wichura's own */
               { 0.975, 1.959963984540054 },
               { 0.001, -3.090232306167814 },
               { 1e-10, -6.361340902404056 },
               { 1e-20, -9.262340089798408 } };

static const struct {
    double p, df, t;
} student[] = { { 0.95, 1, 6.3137515 }, { 0.95, 2, 2.9199856 },   { 0.975, 3, 3.1824463 },
                { 0.95, 5, 2.0150484 }, { 0.05, 10, -1.8124611 }, { 0.95, 30, 1.6972609 },
                { 0.5, 4, 0 } };

static const struct {
    double p, df, chi2;
} chi2[] = { { 0.95, 1, 3.8414588 },   { 0.05, 1, 0.0039321 },   { 0.05, 2, 0.1025866 },
             { 0.95, 2, 5.9914645 },   { 0.95, 3, 7.8147279 },   { 0.05, 10, 3.9402991 },
             { 0.95, 10, 18.3070381 }, { 0.5, 100, 99.3341292 }, { 0.05, 3, 0.3518463 } };

static void draws(void)
{
    uint64_t state = 0, again = 0;
    double sum = 0, squares = 0;
    bool same = true;

    for (int i = 0; i < 100000; i++) {
        double z = deviate_normal(deviate_uniform(&state));

        sum += z;
        squares += z * z;
    }
    for (int i = 0; i < 100000; i++)
        same = deviate_uniform(&again) > 0 && same;
    ok(fabs(sum) < 1500 && near(squares, 100000, 0.02),
       "normal samples have mean 0 and variance 1\n%.4f, %.4f", sum / 1e5, squares / 1e5);
    ok(same && again == state, "samples are the same in every run");
}

static void beta(void)
{
    static const struct {
        double a, b, x, want;
    } cases[] = {
        { 1, 1, 0.3, 0.3 },                             /* uniform */
        { 1, 5, 0.2, 1 - 0.8 * 0.8 * 0.8 * 0.8 * 0.8 }, /* 1 - (1-x)^b */
        { 4, 1, 0.9, 0.9 * 0.9 * 0.9 * 0.9 },           /* x^a */
        { 2, 3, 0.5, 11.0 / 16 },                       /* P(Bin(4, 1/2) >= 2) */
        { 0.5, 0.5, 0.25, 1.0 / 3 },                    /* arcsine: 2/pi asin(sqrt x) */
        { 40, 60, 0, 0 },
        { 40, 60, 1, 1 },
    };

    for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
        ok(near(deviate_beta_share(cases[i].a, cases[i].b, cases[i].x), cases[i].want, 1e-9),
           "Beta(%g, %g) at %g: %g", cases[i].a, cases[i].b, cases[i].x, cases[i].want);
    ok(near(deviate_beta_share(0.2, 30, 0.01) + deviate_beta_share(30, 0.2, 0.99), 1, 1e-9),
       "the Beta distribution is symmetric in a, b and x, 1 - x");
    ok(near(deviate_binomial_tail(4, 2, 0.5), 11.0 / 16, 1e-9) && deviate_binomial_tail(4, 0, 0.5) == 1 &&
           near(deviate_binomial_tail(30, 30, 0.1), 1e-30, 1e-9),
       "a binomial tail is a Beta share, also a small one");
}

int main(void)
{
    for (size_t i = 0; i < ARRAY_SIZE(normal); i++) {
        ok(fabs(deviate_normal(normal[i].p) - normal[i].z) < 1e-14 * (1 + fabs(normal[i].z)),
           "normal, %g\n%.16g", normal[i].p, deviate_normal(normal[i].p));
        ok(near(deviate_normal_share(normal[i].z), normal[i].p, 1e-6),
           "the normal share inverts the quantile");
    }
    for (double z = -8; z <= 5; z += 0.37)
        ok(fabs(deviate_normal(deviate_normal_share(z)) - z) < 1e-9,
           "quantile of the normal share of %.2f is the value again", z);
    for (size_t i = 0; i < ARRAY_SIZE(student); i++)
        ok(fabs(deviate_student(student[i].p, student[i].df) - student[i].t) < 0.03,
           "Student, %g with %g\n%.4f", student[i].p, student[i].df,
           deviate_student(student[i].p, student[i].df));
    for (size_t i = 0; i < ARRAY_SIZE(chi2); i++)
        ok(near(deviate_chi2_ratio(chi2[i].p, chi2[i].df) * chi2[i].df, chi2[i].chi2, 0.08),
           "chi squared, %g with %g\n%.4f", chi2[i].p, chi2[i].df,
           deviate_chi2_ratio(chi2[i].p, chi2[i].df) * chi2[i].df);
    beta();
    draws();
    return done_testing();
}
