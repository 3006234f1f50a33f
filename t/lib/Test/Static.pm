# SPDX-License-Identifier: Apache-2.0
package Test::Static;

# Servers whose loop answers, and what tests of them under load measure.
#
#   my $h = Test::Static::server(conf => "KeepAliveTimeout 60\n");
#   Test::Static::old_file($h, 'a.txt', $text);  # may be repeated at once
#   $h->start;
#   $h->learn('/1k.txt');
#   my @c = map Test::Client->new($h->port), 1 .. 4;
#   my ($good, @t) = Test::Static::take_turns($h, \@c, 1000, '/1k.txt');
#   Test::Static::quantile(.99, @t);

use strict;
use warnings;
use Test::Client;
use Test::Httpd;
use Time::HiRes qw(time);

my $long_ago = 1_700_000_000;

# Options as of Test::Httpd, and seats (FixedProcesses, 1). The status is at
# /status, for Test::Client::counter.
sub server {
    my (%o) = @_;
    my $conf = 'FixedProcesses ' . (delete $o{seats} // 1) . "\n"
        . "FixedStatic on\n" . (delete $o{conf} // '') . <<'END';
<Directory "/">
    AllowOverride None
</Directory>
<Location "/status">
    SetHandler cpuaffinity-status
</Location>
END
    my $h = Test::Httpd->new(mpm_conf => "ThreadsPerChild 8\n",
        listen => Test::Httpd::listener(), %o,
        conf => $conf);
    utime $long_ago, $long_ago, map $h->root . "/htdocs/$_",
        qw(1k.txt index.html);
    return $h;
}

# Writes a file of long ago: what has just changed is not repeated. A number
# instead of a text, in size => N: that many zeros, which take no room.
# @return its path
sub old_file {
    my ($h, $name, $text, %o) = @_;
    my $path = $h->write_file("htdocs/$name", $text // '');
    truncate $path, $o{size} if $o{size};
    utime $long_ago, $long_ago, $path;
    return $path;
}

# Reads a little of a long answer until the loop gives it. @return true then
sub learn_long {
    my ($h, $target) = @_;
    return $h->wait_for(sub {
        my $before = $h->counter('loop_hits');
        for (1 .. 3) {
            my $c = Test::Client->new($h->port);
            $c->send(Test::Client::request($target));
            $c->more;
        }
        $h->counter('loop_hits') > $before;
    }, 10);
}

# @n requests, one at a time, on the connections in turn; each answer's body
# is of the length given (1024). A connection that was closed while it was
# idle, as httpd may do when its threads are busy, is opened anew. @return how
# many were right, and the seconds that each took
sub take_turns {
    my ($h, $connections, $n, $target, $length) = @_;
    my ($good, @seconds) = (0);
    for my $i (1 .. $n) {
        my $c = \$connections->[ $i % @$connections ];
        my $start = time;
        my $r = $$c->get($target);
        if (!$r && $$c->{fate} && !length $$c->{in}) {
            $$c = Test::Client->new($h->port);
            $r = $$c->get($target);
        }
        push @seconds, time - $start;
        $good++ if $r && $r->{status} == 200
            && length $r->{body} == ($length // 1024);
    }
    return ($good, @seconds);
}

# The value below which the share q of the values lies.
sub quantile {
    my ($q, @values) = @_;
    @values = sort { $a <=> $b } @values;
    my $at = int $q * @values;
    return $values[ $at > $#values ? $#values : $at ];
}

# Is the p99 with a disturbance within twice what it is without? Each is a
# list of quantiles, of rounds that took turns. One round of "with" is enough:
# what the loop itself does to others it does in every round, what other
# programs on the machine do it does not. Below a floor (2 ms) nothing is
# compared: that is what a client that is not alone on its CPU loses now and
# then to the scheduler, whatever the server does.
# @return (yes or no, how it was)
sub undisturbed {
    my ($without, $with, $floor) = @_;
    my $before = quantile(.5, @$without);
    my ($best) = sort { $a <=> $b } @$with;
    my $limit = 2 * $before;
    $limit = $floor // .002 if $limit < ($floor // .002);
    return ($best <= $limit * Test::Httpd::slow(),
        sprintf 'p99 %.2f ms before, %.2f ms with', 1e3 * $before,
        1e3 * $best);
}

# The most descriptors that a program started here may have.
sub descriptors {
    my $n = `sh -c 'ulimit -Hn'`;
    chomp $n;
    return $n eq 'unlimited' ? 1 << 20 : $n;
}

# What to put in front of a command that needs so many.
sub with_descriptors {
    my ($n) = @_;
    return ('sh', '-c', "ulimit -n $n && exec \"\$\@\"", 'sh');
}

1;
