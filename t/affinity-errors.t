# SPDX-License-Identifier: Apache-2.0
# Each directive's mistakes are found by -t, with directive, argument and
# reason; -t and start agree.
use strict;
use warnings;
use Test::More;
use Test::Httpd;

sub slurp {
    my ($path) = @_;
    open my $fh, '<:raw', $path or die "$path: $!";
    local $/;
    return <$fh>;
}

my $h = Test::Httpd->new;

# [directives, pattern the message must match]
my @bad = (
    [ 'CPUAffinity l4', qr/CPUAffinity: .*'l4'/ ],
    [ 'CPUAffinity', qr/CPUAffinity/ ],
    [ 'CPUAffinity cpu core', qr/CPUAffinity: .*core/ ],
    [ 'CPUAffinity map', qr/CPUAffinity: .*map/ ],
    [ 'CPUAffinity map 3-1', qr/CPUAffinity: .*3-1/ ],
    [ 'CPUAffinity map 0,,1', qr/CPUAffinity: / ],
    [ 'CPUAffinity map 0x', qr/CPUAffinity: .*0x/ ],
    [ 'CPUAffinity map mask:02', qr/CPUAffinity: .*(?:mask:02|2)/ ],
    [ "CPUAffinity cpu\nCPUAffinity core", qr/CPUAffinity: already set at/ ],
    [ "<VirtualHost *>\nCPUAffinity cpu\n</VirtualHost>",
        qr/CPUAffinity cannot occur within/ ],
    [ "<Directory />\nCPUAffinity cpu\n</Directory>",
        qr/CPUAffinity .*not allowed/ ],
    [ "CPUAffinity cpu\nCPUAffinityListener fast", qr/Listener: .*fast/ ],
    [ "CPUAffinity cpu\nCPUAffinityWorkers 0-1:0",
        qr/CPUAffinityWorkers: .*0/ ],
    [ "CPUAffinitySMT second", qr/CPUAffinitySMT: .*second/ ],
    [ 'CPUAffinityMemory near', qr/CPUAffinityMemory: 'near'/ ],
    [ 'CPUAffinityChildren none', qr/CPUAffinityChildren: 'none'/ ],
    [ 'CPUAffinityWatch 0', qr/CPUAffinityWatch: '0'/ ],
    [ 'CPUAffinityWatch 10s', qr/CPUAffinityWatch: '10s'/ ],
    [ 'CPUAffinityStrict maybe', qr/CPUAffinityStrict: 'maybe'/ ],
    [ 'FixedProcesses 0', qr/FixedProcesses: '0'/ ],
    [ 'FixedProcesses 4097', qr/FixedProcesses: '4097'/ ],
    [ 'FixedStaticCache 0', qr/FixedStaticCache: '0'/ ],
    [ 'FixedStaticCache 10 61s', qr/FixedStaticCache: '61s'/ ],
    [ 'FixedStaticMemory 64Q', qr/FixedStaticMemory: '64Q'/ ],
    [ 'FixedStaticMemory 64K 1K', qr/FixedStaticMemory: '1K'/ ],
    [ 'FixedSteering numa', qr/FixedSteering: 'numa'/ ],
    [ 'FixedBalance 2', qr/FixedBalance: '2'/ ],
    [ 'FixedStatic maybe', qr/FixedStatic must be On or Off/ ],
);

# What only this machine lacks: refused under Strict, else a warning.
my @lacking = (
    [ 'CPUAffinity map 99999', qr/CPUAffinity.*99999/ ],
    [ "CPUAffinity map 0\nCPUAffinityListener cpu exclusive",
        qr/CPUAffinityListener.*leaves no CPU/ ],
    [ "CPUAffinity cpu\nCPUAffinityCPUs 4096", qr/CPUAffinityCPUs.*4096/ ],
    [ "CPUAffinity map +7000", qr/CPUAffinity.*\+7000/ ],
    [ "CPUAffinity map l3:99", qr/CPUAffinity.*l3:99/ ],
    [ "CPUAffinity map netdev:nosuch0", qr/CPUAffinity.*nosuch0/ ],
);
for my $case (@lacking) {
    my ($text, $want) = @$case;
    (my $name = $text) =~ s/\n/; /g;
    $h->write_conf("$text\n");
    my ($code, $out) = $h->run('-t');
    is $code, 0, "-t warns: $name" or diag $out;
    is scalar(grep { /$want/ } split /\n/, $out), 1, 'once, and says why'
        or diag $out;
    push @bad, [ "CPUAffinityStrict on\n$text", $want ];
}
push @bad, [ "CPUAffinity cpu\nCPUAffinityListener cpu exclusive",
    qr/CPUAffinityListener.*exclusive/ ];

for my $case (@bad) {
    my ($text, $want) = @$case;
    (my $name = $text) =~ s/\n/; /g;
    $h->write_conf("$text\n");
    my ($code, $out) = $h->run('-t');
    ok $code != 0, "-t refuses: $name" or diag $out;
    like $out, $want, 'and says why';
    unlike $out, qr/Segmentation|Sanitizer/, 'in order';
}

# What -t refuses, start refuses too (a sample: one found by a setter, one
# by the plan), and the other way round.
for my $text ('CPUAffinity l4',
    "CPUAffinityStrict on\nCPUAffinity map 99999") {
    $h->write_conf("$text\n");
    ok !eval { $h->start; 1 }, "start refuses: $text";
}
$h->write_conf("CPUAffinity map 0 99999\nCPUAffinityCPUs 0-4096\n");
my ($code, $out) = $h->run('-t');
is $code, 0, '-t accepts what this machine has a part of';
$h->start;
is $h->get('/')->{status}, 200, 'and it starts';

subtest 'Strict' => sub {
    my $s = Test::Httpd->new(prefix => [ 'taskset', '-c', '1' ]);
    $s->write_conf("CPUAffinity map 0-1\n");
    my ($rc, $text) = $s->run('-t');
    is $rc, 0, 'off: a CPU outside the mask is dropped';
    my @lines = grep { /CPU 0\b/ } split /\n/, $text;
    is scalar(@lines), 1, 'with one warning' or diag $text;
    like $lines[0], qr/mask/, 'that says why';
    $s->write_conf("CPUAffinity map 0-1\nCPUAffinityStrict on\n");
    ($rc, $text) = $s->run('-t');
    ok $rc, 'on: -t fails';
    like $text, qr/CPUAffinity.*0/, 'and names it';
    ok !eval { $s->start; 1 }, 'on: start fails';
    $s->{allow_log} = qr/CPUAffinity/;
    $s->finish;
};

subtest 'another MMN' => sub {
    my $so = Test::Httpd::build_dir() . '/mod_cpuaffinity.so';
    my $bytes = slurp($so);
    # the module record: version, minor, index -1 …, magic "AP24"
    my $at = -1;
    my $major = quotemeta pack 'l', 20120211;
    while ($bytes =~ /$major(....)\xff\xff\xff\xff/sg) {
        $at = $-[0];
    }
    plan skip_all => 'module record not found in the file' if $at < 0;
    substr($bytes, $at, 4) = pack 'l', 20100606;
    $h->write_file('other.so', $bytes);
    my $conf = slurp($h->root . '/httpd.conf');
    $conf =~ s{LoadModule cpuaffinity_module \S+}
        {LoadModule cpuaffinity_module \@ROOT\@/other.so};
    my $root = $h->root;
    $conf =~ s/\@ROOT\@/$root/g;
    $h->write_file('httpd.conf', $conf);
    my ($rc, $text) = $h->run('-t');
    ok $rc, 'a module built for another httpd is refused';
    like $text, qr/not compatible/, 'by httpd, with its own message'
        or diag $text;
};

$h->{allow_log} = qr/CPUAffinity/;
$h->finish;
done_testing;
