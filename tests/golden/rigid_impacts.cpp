// Impacts of a block on rigid ground, by Simbody 3.7's SemiExplicitEulerTimeStepper with its own
// defaults: PLUS impulse solver, simultaneous impacts, Poisson's hypothesis.
//
//     c++ -O2 -std=c++17 -w tests/golden/rigid_impacts.cpp -I/usr/include/simbody -o impacts
//         -lSimTKsimbody -lSimTKmath -lSimTKcommon
//     ./impacts single out.json; gzip -9n <out.json >tests/golden/rigid_impacts.json.gz
//     ./impacts runs out.txt   # where a thrown block comes to rest, by length of step
//
// Debian's library prints its debugging lines to the standard output, here to
// impacts.log, or with `runs` to nowhere.
#include <Simbody.h>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <random>
using namespace SimTK;
typedef SemiExplicitEulerTimeStepper Stepper;

static const Real MASS = 4, CAPTURE = 0.01, MIN_COR_AT = 0.1, SLIP = 0.01;
static const Vec3 HALF(0.2, 0.15, 0.1);
static const Vec3 INERTIA(MASS / 3 * (0.15 * 0.15 + 0.1 * 0.1), MASS / 3 * (0.2 * 0.2 + 0.1 * 0.1),
                          MASS / 3 * (0.2 * 0.2 + 0.15 * 0.15));

static Vec3 corner(int k) {
    return Vec3(k & 1 ? HALF[0] : -HALF[0], k & 2 ? HALF[1] : -HALF[1], k & 4 ? HALF[2] : -HALF[2]);
}

// What the library prints. It has the line SLIPS where the cone of a contact does not hold it that
// no longer slid. There this solver takes friction along the change of the slip instead of against
// it: either it finds no change, and the contact sticks with more friction than its cone allows, or
// friction drives the slip.
static const char LOG[] = "impacts.log", SLIPS[] = "from roll->impend";

static bool slips_since(long& at) {
    std::cout.flush();
    std::fflush(stdout);
    FILE* log = std::fopen(LOG, "r");
    std::fseek(log, at, SEEK_SET);
    char line[4096];
    bool found = false;
    while (std::fgets(line, sizeof line, log))
        found |= std::strstr(line, SLIPS) != nullptr;
    at = std::ftell(log);
    std::fclose(log);
    return found;
}

struct Block {
    MultibodySystem mbs;
    SimbodyMatterSubsystem matter;
    GeneralForceSubsystem forces;
    MobilizedBody::Free body;
    State state;
    Block(Real gravity, Real cor, Real mu_s, Real mu_d, const Transform& X, const SpatialVec& V)
        : matter(mbs), forces(mbs) {
        Force::Gravity(forces, matter, -ZAxis, gravity);
        Body::Rigid rigid(MassProperties(MASS, Vec3(0), Inertia(INERTIA)));
        body = MobilizedBody::Free(matter.Ground(), Vec3(0), rigid, Vec3(0));
        for (int k = 0; k < 8; ++k)
            matter.adoptUnilateralContact(new PointPlaneContact(
                matter.Ground(), ZAxis, 0, body, corner(k), cor, mu_s, mu_d, 0));
        state = mbs.realizeTopology();
        mbs.realizeModel(state);
        body.setQToFitTransform(state, X);
        body.setUToFitVelocity(state, V);
    }
};

static void begin(Stepper& stepper, const State& state) {
    stepper.setConstraintTolerance(1e-4);
    stepper.setDefaultImpactCaptureVelocity(CAPTURE);
    stepper.setDefaultImpactMinCORVelocity(MIN_COR_AT);
    stepper.setDefaultFrictionTransitionVelocity(SLIP);
    stepper.initialize(state);
}

static void vec(FILE* out, const char* key, const Vec3& v, const char* end) {
    std::fprintf(out, "\"%s\": [%.17g, %.17g, %.17g]%s", key, v[0], v[1], v[2], end);
}

static void singles(FILE* out, int count) {
    std::mt19937_64 rng(20);
    auto uniform = [&](Real a, Real b) { return a + (b - a) * std::ldexp(Real(rng() >> 11), -53); };
    std::fprintf(out, "{\"what\": \"a block on the plane z=0, on a corner or an edge: velocities "
                      "before and after one impact\",\n\"generator\": \"Simbody 3.7 (Debian's "
                      "3.7+dfsg-3), tests/golden/rigid_impacts.cpp\",\n\"setup\": {");
    std::fprintf(out, "\"mass\": %.17g, \"capture_velocity\": %.17g, \"min_cor_velocity\": %.17g, "
                      "\"friction_transition_velocity\": %.17g, ", MASS, CAPTURE, MIN_COR_AT, SLIP);
    vec(out, "inertia_diag", INERTIA, ", \"stations_B\": [");
    for (int k = 0; k < 8; ++k)
        std::fprintf(out, "[%.17g, %.17g, %.17g]%s", corner(k)[0], corner(k)[1], corner(k)[2],
                     k < 7 ? ", " : "]},\n\"records\": [\n");
    long at = 0;
    for (int i = 0; i < count; ++i) {
        const Real cor = uniform(0.1, 0.9), mu_d = uniform(0.1, 0.6), mu_s = mu_d + uniform(0, 0.3);
        const Rotation yaw(uniform(-3, 3), ZAxis), roll(uniform(-0.7, 0.7), XAxis),
            pitch(uniform(-0.7, 0.7), YAxis);
        const Rotation R = i % 2 == 0 ? yaw * roll * pitch : i % 4 == 1 ? yaw * roll : yaw * pitch;
        Real low = 0;
        for (int k = 0; k < 8; ++k)
            low = std::min(low, (R * corner(k))[2]);
        const Vec3 p(0, 0, -low), v(uniform(-2, 2), uniform(-2, 2), uniform(-3, -0.2)),
            w(uniform(-3, 3), uniform(-3, 3), uniform(-3, 3));
        const Quaternion q = R.convertRotationToQuaternion();
        std::fprintf(out, "{\"min_cor\": %.17g, \"mu_s\": %.17g, ", cor, mu_s);
        std::fprintf(out, "\"mu_d\": %.17g, ", mu_d);
        std::fprintf(out, "\"quat_GB\": [%.17g, %.17g, %.17g, %.17g], ", q[0], q[1], q[2], q[3]);
        vec(out, "p_G", p, ", ");
        vec(out, "omega_G", w, ", ");
        vec(out, "v_G", v, ", ");
        Block block(0, cor, mu_s, mu_d, Transform(R, p), SpatialVec(w, v));
        Stepper stepper(block.mbs);
        begin(stepper, block.state);
        slips_since(at);
        stepper.stepTo(1e-12);
        block.mbs.realize(stepper.getState(), Stage::Velocity);
        const SpatialVec after = block.body.getBodyVelocity(stepper.getState());
        vec(out, "omega_after_G", after[0], ", ");
        vec(out, "v_after_G", after[1], ", ");
        std::fprintf(out, "\"beyond_cone\": %s}%s\n", slips_since(at) ? "true" : "false",
                     i + 1 < count ? "," : "]}");
    }
}

// The block of point_on_plane_unilateral, for 2 s.
static void runs(FILE* out) {
    const Rotation R(Quaternion(0.992197667229329, 0.10976998200492927, 0.054884991002464634,
                                0.021953996400985852));
    const SpatialVec V(Vec3(.3, -.4, .2), Vec3(1, .2, 0));
    for (Real cor : {0.0, 0.3})
        for (Real h : {1e-3, 5e-4, 2.5e-4, 1e-4, 5e-5}) {
            Block block(9.81, cor, 0.8, 0.5, Transform(R, Vec3(0, 0, 0.4)), V);
            Stepper stepper(block.mbs);
            begin(stepper, block.state);
            const long n = std::lround(2 / h);
            for (long k = 1; k <= n; ++k)
                stepper.stepTo(k * h);
            block.mbs.realize(stepper.getState(), Stage::Position);
            const Vec3 p = block.body.getBodyOriginLocation(stepper.getState());
            std::fprintf(out, "min_cor %.1f, %.2f ms: %.4f %.4f\n", cor, 1e3 * h, p[0], p[1]);
        }
}

int main(int argc, char** argv) {
    FILE* out = argc == 3 ? std::fopen(argv[2], "w") : nullptr;
    if (!out) {
        std::fprintf(stderr, "impacts single|runs FILE\n");
        return 2;
    }
    const bool single = !std::strcmp(argv[1], "single");
    if (!std::freopen(single ? LOG : "/dev/null", "w", stdout))
        return 2;
    single ? singles(out, 200) : runs(out);
    return std::fclose(out);
}
