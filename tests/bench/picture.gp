# picture: six charts of bars. Called with data (a folder of tab separated files), format (svg or png) and far_ms.

if (format eq "svg") {
    set terminal svg size 1260,840 font "sans-serif,13" background "white"
} else {
    set terminal pngcairo size 1260,840 font "sans-serif,11" background "white"
}

set datafile separator "\t"
set style data histograms
set style histogram clustered gap 1
set style fill solid 1.0 noborder
set boxwidth 0.92 relative
set border 3 linecolor rgb "#666666"
set tics nomirror textcolor rgb "#333333"
set xtics scale 0
set ytics scale 0.4
set grid ytics linecolor rgb "#e4e4e4" linetype 1
set key top left Left reverse samplen 1.5 spacing 1.1
set offsets 0, 0, graph 0.28, 0

LOCAL = "#b8b8b8"
STRAIGHT = "#4a6fa5"
THROUGH = "#e07b39"
FORWARD = "#f2c6a0"

# Over a bar: what it says.
big(x) = x >= 1000 ? sprintf("%d,%03d", int(x) / 1000, int(x) % 1000) : sprintf("%d", int(x))
short(x) = x >= 100 ? sprintf("%.0f", x) : x >= 10 ? sprintf("%.1f", x) : sprintf("%.2f", x)

place(where) = where eq "near" ? "server near" : sprintf("server %d ms away", far_ms)

set multiplot layout 2,3 margins 0.05,0.985,0.095,0.955 spacing 0.055,0.195

# ---- Sweeps: two bars for each lookupcache

set xrange [-0.6:2.6]
set yrange [0:*]
set xlabel "lookupcache"

set title "Warm du sweep: calls that reach the server"
plot data."/calls" using 2:xtic(1) title "straight" linecolor rgb STRAIGHT, \
     "" using 3 title "through nfsaccel" linecolor rgb THROUGH, \
     "" using ($0 - 0.17):2:(big($2)) with labels offset 0,0.6 font ",10" notitle, \
     "" using ($0 + 0.17):3:(big($3)) with labels offset 0,0.6 font ",10" notitle

do for [where in "near far"] {
    set title "Warm du sweep: seconds, ".place(where)
    plot data."/sweeps-".where using 2:xtic(1) title "straight" linecolor rgb STRAIGHT, \
         "" using 3 title "through nfsaccel" linecolor rgb THROUGH, \
         "" using ($0 - 0.17):2:(short($2)) with labels offset 0,0.6 font ",10" notitle, \
         "" using ($0 + 0.17):3:(short($3)) with labels offset 0,0.6 font ",10" notitle
}

# ---- fs_mark and Andrew: relative to what they are straight at the server

unset xlabel
set ytics 0.5
set xrange [-0.6:3.6]

set title "fs\\_mark, fsync before close: files per second\n(straight = 1)"
plot data."/fsmark" using ($4 / $3):xtic(sprintf("%s, %s\n%s/s", strcol(1), strcol(2), short($3))) \
        title "through nfsaccel" linecolor rgb THROUGH, \
     1 with lines linewidth 2 linecolor rgb STRAIGHT title "straight (files/s below)", \
     "" using 0:(0.08):(short($4)) with labels textcolor "white" font ",10" notitle

set xrange [-0.6:4.6]
set offsets 0, 0, graph 0.5, 0
do for [where in "near far"] {
    set title "Andrew: time, ".place(where)."\n(straight = 1)"
    plot data."/andrew-".where using ($2 / $3):xtic(sprintf("%s\n%s s", strcol(1), short($3))) \
            title "local" linecolor rgb LOCAL, \
         "" using ($4 / $3) title "through nfsaccel" linecolor rgb THROUGH, \
         "" using ($5 / $3) title "through nfsaccel, memory=0" linecolor rgb FORWARD, \
         1 with lines linewidth 2 linecolor rgb STRAIGHT title "straight (seconds below)"
}

unset multiplot
