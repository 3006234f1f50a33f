# SPDX-License-Identifier: Apache-2.0
# FixedProcesses: the MPM's directives are replaced, wherever they stand, and
# the number of children stays what it is.
use strict;
use warnings;
use Test::More;
use Test::Httpd;

sub count { my @all = $_[0]->children; return scalar @all }

sub refused {
    my ($name, $conf, $re, %o) = @_;
    my $h = Test::Httpd->new(conf => $conf, %o);
    my ($code, $out) = $h->run('-t');
    isnt $code, 0, "$name: -t fails";
    like $out, $re, "$name: and says why";
}

refused('none', "FixedProcesses 0\n", qr/FixedProcesses.*'?0\b/);
refused('too many', "FixedProcesses 4097\n", qr/FixedProcesses.*4097/);
refused('a word', "FixedProcesses many\n", qr/FixedProcesses.*many/);
refused('trailing text', "FixedProcesses 2x\n", qr/FixedProcesses.*2x/);
refused('a virtual host',
    "<VirtualHost *:80>\nFixedProcesses 2\n</VirtualHost>\n",
    qr/FixedProcesses/);
refused('the MPM worker', "FixedProcesses 2\n",
    qr/FixedProcesses 2 \(\S+:\d+\): needs the MPM event, this is worker/,
    mpm => 'worker');
refused('the MPM prefork', "FixedProcesses 2\n",
    qr/needs the MPM event, this is prefork/, mpm => 'prefork');
refused('threads over the limit', "FixedProcesses 2\nThreadsPerChild 100\n",
    qr/ThreadsPerChild 100 is over ThreadLimit 64/);
refused('threads over all limits',
    "FixedProcesses 4096\nThreadLimit 90000\nThreadsPerChild 90000\n",
    qr/FixedProcesses 4096 .* kernel\.threads-max/);
SKIP: {
    my $cpus = () = do {
        open my $fh, '<', '/proc/cpuinfo';
        local $/;
        <$fh> =~ /^processor\s*:/mg;
    };
    skip 'one CPU has one listener bucket', 2 if $cpus < 2;
    refused('listener buckets',
        "FixedProcesses 2\nListenCoresBucketsRatio 1\n",
        qr/FixedProcesses 2 .*ListenCoresBucketsRatio 1 makes $cpus/);
}

# What -t says: each value that is replaced, with its place.
my $conf = <<'END';
<IfModule mpm_event_module>
    <IfDefine !NEVER>
        MaxClients 12
    </IfDefine>
    MaxRequestsPerChild 1000
</IfModule>
Define SERVERS 1
StartServers ${SERVERS}
FixedProcesses 3
END
{
    my $h = Test::Httpd->new(conf => $conf);
    my ($code, $out) = $h->run('-t', '-c', 'StartServers 7');
    is $code, 0, '-t is content' or diag $out;
    my @lines = split /\n/, do {
        open my $fh, '<', $h->root . '/httpd.conf';
        local $/;
        <$fh>;
    };
    my %at;
    for my $i (0 .. $#lines) {
        push @{ $at{$1} }, $i + 1 if $lines[$i] =~ /^\s*(\w+) /;
    }
    for (['StartServers', 2, $at{StartServers}[0], 3],
        ['StartServers', 1, $at{StartServers}[1], 3],
        ['MaxClients', 12, $at{MaxClients}[0], 12],
        ['MaxRequestWorkers', 32, $at{MaxRequestWorkers}[0], 12],
        ['MinSpareThreads', 1, $at{MinSpareThreads}[0], 9],
        ['ServerLimit', 8, $at{ServerLimit}[0], 28],
        ['MaxRequestsPerChild', 1000, $at{MaxRequestsPerChild}[0], 0])
    {
        my ($name, $old, $line, $new) = @$_;
        my $text = qr/\b$name\ $old\ \(\S+httpd\.conf:$line\)\ is\ replaced
            \ by\ $new\b/x;
        if ($old == $new) {
            unlike $out, $text, "$name $old fits already";
        }
        else {
            like $out, $text, "$name $old is named with its place";
        }
    }
    like $out, qr/StartServers 7 \([^)]+\) is replaced by 3/, 'so is -c';
    like $out, qr/FixedProcesses 3 \(\S+:\d+\):.* ThreadsPerChild 4\b/,
        'a summary tells the threads';
    unlike $out, qr/MaxSpareThreads/, 'what fits is left alone';
}

# A server that keeps its three children.
my $h = Test::Httpd->new(conf => $conf, args => ['-c', 'StartServers 7']);
$h->start;
ok $h->wait_for(sub { count($h) == 3 }), 'three children';
like $h->log, qr/notice.*StartServers 7 \([^)]+\) is replaced by 3/,
    'the notices are in the log';
is $h->log_count(qr/notice.* is replaced by/), 7, 'once for each';
my @before = $h->children;
kill 'KILL', $before[1];
ok $h->wait_for(sub {
    my @now = $h->children;
    @now == 3 && !grep { $_ == $before[1] } @now;
}), 'a child that was killed is replaced';
is scalar(grep { my $p = $_; grep { $_ == $p } @before } $h->children), 2,
    'the others are what they were';
kill 'KILL', $h->children;
ok $h->wait_for(sub {
    my @now = $h->children;
    my %old = map { $_ => 1 } @before;
    @now == 3 && !grep { $old{$_} } @now;
}, 15), 'so are all of them';

# Restarts: another number, off, and more than the frozen limit allows.
(my $two = $conf) =~ s/FixedProcesses 3/FixedProcesses 2/;
$h->write_conf($two);
ok $h->graceful, 'a restart with two';
ok $h->wait_for(sub { count($h) == 2 }, 15), 'two children';
(my $many = $conf) =~ s/FixedProcesses 3/FixedProcesses 30/;
$h->write_conf($many);
ok $h->graceful, 'a restart with more than there is room for';
like $h->log, qr/FixedProcesses\ 30\ .*30\ processes\ are\ lowered\ to
    \ ServerLimit\ 28/x, 'says so';
ok $h->wait_for(sub { count($h) >= 20 }, 20), 'and goes on';
$h->write_conf($two);
ok $h->graceful, 'a restart with two again';
$h->write_conf('');
ok $h->graceful, 'a restart without the mode';
ok $h->wait_for(sub { count($h) <= 7 && $h->get('/')->{status} == 200 }),
    'serves';
$h->finish;

# httpd -X is one process.
my $x = Test::Httpd->new(conf => "FixedProcesses 3\n");
$x->start(args => ['-X']);
is count($x), 0, '-X has no children';
$x->finish;

done_testing;
