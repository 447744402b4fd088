// Pinocchio's side of the comparison: pinocchio_peer DIR NAME ...
//
// DIR has NAME.model and NAME.task of each robot (robots.py writes them). Requests on stdin, one
// line of answer each: "hot NAME.WHAT STEPS" is answered by ns per call, mean over STEPS calls
// without a pause, and a number that depends on every call. WHAT is
//
//   aba      forward dynamics, pinocchio::aba in its local convention, without external forces
//   fk       forwardKinematics with velocities, and world-aligned velocities of four frames
//   crba     joint-space inertia, local convention
//   rnea     inverse dynamics
//   pieces   a whole step of 100 µs of simulated time: PD of every joint with its effort limit,
//            forward kinematics, exponential contacts with anchored friction at every station,
//            aba with external forces, semi-implicit integration. Joint limits are not modelled.
//
// The robot of `pieces` first stands for five seconds and must be still by then; the other calls
// are made for its pose and a small velocity. Everything is compiled here from Pinocchio's headers:
// its shared library has been built for CPUs without AVX and is not linked.
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/serialization.hpp>

#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>

namespace pin = pinocchio;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

constexpr double H_S = 1e-4, SETTLE_S = 5.0, STILL = 1e-3, SAG_MAX_M = 0.03;

[[noreturn]] void stop(const std::string& what) {
  std::cerr << "pinocchio_peer: " << what << "\n";
  std::exit(1);
}

// A sphere that touches the ground z = 0: exponential normal spring, friction spring with an anchor
// (Simbody's parameters), the tangential force limited to the cone; beyond it the anchor follows.
struct Station {
  pin::JointIndex joint;
  Vector3d centre;
  double radius;
  Vector2d anchor = Vector2d::Zero();
  bool slides = false;
};

struct Friction {
  double mu_static, mu_kinetic;
};

Vector3d contact_force(Station& s, const Friction& friction, const Vector3d& p, const Vector3d& v) {
  constexpr double d0 = 0.0065905, d1 = 0.5336, d2 = 1150.0, cz = 0.5, fz_max = 1e5;
  constexpr double kxy = 2e4, cxy = 282.842712474619;
  double fz = d1 * std::exp(-d2 * (p.z() - d0)) * (1.0 - cz * v.z());
  fz = std::min(std::max(fz, 0.0), fz_max);
  const double limit = (s.slides ? friction.mu_kinetic : friction.mu_static) * fz;
  const Vector2d elastic = -kxy * (p.head<2>() - s.anchor);
  Vector2d f = elastic - cxy * v.head<2>();
  const double asked = f.norm();
  s.slides = asked > limit;
  if (s.slides) {
    f *= limit / asked;
    s.anchor = p.head<2>() + elastic * (limit / asked / kxy);
  }
  return {f.x(), f.y(), fz};
}

struct Robot {
  pin::Model model;
  pin::Data data;
  VectorXd q, v, tau, q_hold, effort;
  double kp = 0, kd = 0;
  Friction friction{};
  std::vector<Station> stations;
  std::vector<pin::FrameIndex> frames;
  std::vector<pin::Force> forces;

  explicit Robot(const std::string& path) {
    pin::serialization::loadFromText(model, path + ".model");
    data = pin::Data(model);
    std::ifstream file(path + ".task");
    if (!file) stop(path + ".task cannot be read");
    for (std::string line, key; std::getline(file, line);) {
      std::istringstream in(line);
      in >> key;
      read(key, in);
    }
    v = VectorXd::Zero(model.nv);
    tau = VectorXd::Zero(model.nv);
    q_hold = q;
    forces.assign(model.njoints, pin::Force::Zero());
    place_anchors();
  }

  void read(const std::string& key, std::istream& in) {
    auto vector = [&](long n) {
      VectorXd x(n);
      for (long i = 0; i < n; i++) in >> x[i];
      return x;
    };
    if (key == "q") q = vector(model.nq);
    if (key == "effort") effort = vector(model.nv - 6);
    if (key == "gains") in >> kp >> kd;
    if (key == "friction") in >> friction.mu_static >> friction.mu_kinetic;
    if (key == "station") {
      Station s{};
      in >> s.joint >> s.centre.x() >> s.centre.y() >> s.centre.z() >> s.radius;
      stations.push_back(s);
    }
    if (key == "frame") {
      frames.emplace_back();
      in >> frames.back();
    }
    if (!in) stop("a line of the task is short: " + key);
  }

  void place_anchors() {
    pin::forwardKinematics(model, data, q);
    for (auto& s : stations) s.anchor = data.oMi[s.joint].act(s.centre).head<2>();
  }

  void step() {
    const long n = model.nv - 6;
    tau.tail(n) = (kp * (q_hold.tail(n) - q.tail(n)) - kd * v.tail(n))
                      .cwiseMax(-effort).cwiseMin(effort);
    pin::forwardKinematics(model, data, q, v);
    for (auto& f : forces) f.setZero();
    for (auto& s : stations) {
      const auto& X = data.oMi[s.joint];
      Vector3d p = X.act(s.centre);
      p.z() -= s.radius;
      // the lowest point of the sphere, in the joint's frame
      const Vector3d at = X.actInv(p);
      const auto& V = data.v[s.joint];
      const Vector3d v_W = X.rotation() * (V.linear() + V.angular().cross(at));
      const Vector3d f = X.rotation().transpose() * contact_force(s, friction, p, v_W);
      forces[s.joint].linear() += f;
      forces[s.joint].angular() += at.cross(f);
    }
    pin::aba(model, data, q, v, tau, forces, pin::Convention::LOCAL);
    v += H_S * data.ddq;
    pin::integrate(model, q, VectorXd(H_S * v), q);
  }

  void stand(const std::string& name) {
    const double height = q[2];
    for (double t = 0; t < SETTLE_S; t += H_S) step();
    if (!(v.cwiseAbs().maxCoeff() < STILL)) stop(name + " still moves after five seconds");
    if (!(std::abs(q[2] - height) < SAG_MAX_M)) stop(name + " has sunk");
  }

  double call(const std::string& what) {
    if (what == "aba") return pin::aba(model, data, q, v, tau, pin::Convention::LOCAL)[0];
    if (what == "crba") return pin::crba(model, data, q, pin::Convention::LOCAL)(0, 0);
    if (what == "rnea") return pin::rnea(model, data, q, v, tau)[0];
    if (what != "fk") stop("unknown: " + what);
    pin::forwardKinematics(model, data, q, v);
    double sum = 0;
    for (auto f : frames) {
      sum += pin::getFrameVelocity(model, data, f, pin::LOCAL_WORLD_ALIGNED).linear().x();
    }
    return sum;
  }
};

template <class Call>
void timed(int steps, Call call) {
  using clock = std::chrono::steady_clock;
  double sum = 0;
  const auto begun = clock::now();
  for (int i = 0; i < steps; i++) sum += call();
  const std::chrono::duration<double, std::nano> spent = clock::now() - begun;
  std::cout << spent.count() / steps << " " << sum << std::endl;
}

int main(int argc, char** argv) {
  std::map<std::string, std::unique_ptr<Robot>> whole, parts;
  std::cout.precision(17);
  for (int i = 2; i < argc; i++) {
    const std::string path = std::string(argv[1]) + "/" + argv[i];
    whole[argv[i]] = std::make_unique<Robot>(path);
    whole[argv[i]]->stand(argv[i]);
    parts[argv[i]] = std::make_unique<Robot>(path);
    parts[argv[i]]->v.setConstant(0.01);
  }
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    std::string kind, name;
    int steps = 0;
    in >> kind >> name >> steps;
    const auto dot = name.find('.');
    if (kind != "hot" || dot == std::string::npos || steps < 1) stop("not a request: " + line);
    const std::string robot = name.substr(0, dot), what = name.substr(dot + 1);
    if (!whole.count(robot)) stop("unknown robot: " + robot);
    if (what == "pieces") {
      Robot& r = *whole[robot];
      timed(steps, [&] { r.step(); return r.q[2]; });
    } else {
      Robot& r = *parts[robot];
      timed(steps, [&] { return r.call(what); });
    }
  }
}
