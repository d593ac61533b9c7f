# report.jq: from the lines of results.jsonl, as one array, to what the report shows.

def median: sort | if length % 2 == 1 then .[length / 2 | floor] else (.[length / 2 - 1] + .[length / 2]) / 2 end;
def to_tenths: . * 10 | round / 10;
def to_hundredths: . * 100 | round / 100;
def answerable: .GETATTR + .LOOKUP + .ACCESS;
def server: if . == 0 then "near" else "\(.) ms away" end;
def place: if . == 0 then "near" else "far" end;

# Where a word stands in a list, to sort by.
def rank($list): . as $x | $list | index($x);

. as $all
| ($all[] | select(.kind == "about") | del(.kind)) as $about
| [$all[] | select(.kind == "sweep")] as $sweeps
| [$all[] | select(.kind == "fsmark")] as $fsmark
| [$all[] | select(.kind == "andrew")] as $andrew
| {
    about: ($about + {rounds: ($andrew | group_by([.way, .ms, .phase]) | map(length) | min)}),

    sweeps: [
      $sweeps | sort_by(.ms, (.lookupcache | rank(["all", "positive", "none"])), .sweep, (.way | rank(["straight", "cached"])))[]
      | {server: (.ms | server), ms, lookupcache, sweep, way: (if .way == "cached" then "nfsaccel" else .way end),
         client, reached: .server, seconds: (.seconds | to_hundredths)}],

    # The second and the third sweep, in the mean.
    warm: [
      $sweeps | map(select(.sweep > 1)) | group_by([.ms, (.lookupcache | rank(["all", "positive", "none"]))])[]
      | def of($way): map(select(.way == $way))
          | {seconds: (map(.seconds) | add / length | to_hundredths),
             sent: (map(.client | answerable) | add / length), reached: (map(.server | answerable) | add / length)};
        {place: (.[0].ms | place), server: (.[0].ms | server), lookupcache: .[0].lookupcache,
         straight: of("straight"), nfsaccel: of("cached")}
      | .ratio = (.straight.seconds / .nfsaccel.seconds | to_tenths)],

    fsmark: [
      $fsmark | group_by([.ms, -.size])[]
      | def of($way): map(select(.way == $way).files_per_second) | median;
        {place: (.[0].ms | place), server: (.[0].ms | server), size: .[0].size, files: .[0].files,
         straight: of("straight"), nfsaccel: of("cached")}
      | .ratio = (.nfsaccel / .straight | to_hundredths)],

    andrew: (
      ($andrew | map(select(.way == "local"))) as $local
      | ["mkdir", "copy", "stat", "read", "build"] as $phases
      | def of($way): map(select(.way == $way))
          | {seconds: (map(.seconds) | median | to_hundredths), asked: (map(.server | answerable) | median)};
        [$andrew | map(select(.way != "local")) | group_by([.ms, (.phase | rank($phases))])[]
         | .[0].phase as $phase
         | {place: (.[0].ms | place), server: (.[0].ms | server), phase: $phase,
            local: ($local | map(select(.phase == $phase).seconds) | median | to_hundredths),
            straight: of("straight"), nfsaccel: of("cached"), forwarding: of("uncached")}])
  }
