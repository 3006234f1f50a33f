# SPDX-License-Identifier: Apache-2.0
# Constants by which httpd decides about connection and protocol, set in a
# server, a directory, a location or for files. Learned by requests
# whose answers do not show them, then asked by others: as stock httpd.
use strict;
use warnings;
use Test::More;
use Test::Twin;

# The last one is none of those: what surrounds it is not refused.
my @constants = qw(nokeepalive downgrade-1.0 force-response-1.0 force-no-vary
    other);

# Each: around the directive, in a virtual host with its own directory.
my %places = (
    server => sub { $_[0] },
    directory => sub { "<Directory $_[1]>\n$_[0]\n</Directory>" },
    location => sub { "<Location /a.txt>\n$_[0]\n</Location>" },
    files => sub { "<Directory $_[1]>\n<Files a.txt>\n$_[0]\n</Files>\n"
        . '</Directory>' },
);

my ($conf, @names) = ('');
for my $constant (@constants) {
    for my $place (sort keys %places) {
        (my $name = "$place-$constant.test") =~ tr/./-/;
        my $dir = "\@ROOT\@/htdocs/$name";
        push @names, [ $name, $constant ];
        $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name\n"
            . "DocumentRoot $dir\nHeader append Vary DNT\n"
            . $places{$place}->("SetEnv $constant 1", $dir)
            . "\n</VirtualHost>\n";
    }
}
my $t = Test::Twin->new(conf => $conf, modules => ['headers']);
$t->file("$_->[0]/a.txt", "text\n") for @names;
$t->start;

sub get {
    my ($host, $version, @fields) = @_;
    return join "\r\n", "GET /a.txt HTTP/1.$version", "Host: $host", @fields,
        '', '';
}

# Twice each, on connections of their own and after another request.
sub learn_from {
    my ($host) = @_;
    for my $version (0, 1) {
        for my $say ('close', 'keep-alive') {
            my $r = get($host, $version, "Connection: $say");
            $t->ask($t->fixed, $r) for 1 .. 3;
            $t->ask($t->fixed, [ $r, $r ]) for 1 .. 3;
        }
    }
}

for my $case (@names) {
    my ($name, $constant) = @$case;
    my $before = $t->hits;
    learn_from($name);
    for my $version (0, 1) {
        for my $say ([], ['Connection: close'], ['Connection: keep-alive'],
            ['DNT: 1']) {
            my $r = get($name, $version, @$say);
            $t->same("$name: HTTP/1.$version @$say", [ $r, $r, $r ]);
        }
    }
    my $hits = $t->hits - $before;
    if ($constant eq 'other') {
        cmp_ok $hits, '>', 0, "$name: the loop answers";
    }
    else {
        is $hits, 0, "$name: httpd answers";
    }
}
is $t->fixed->log_count(qr/a.txt is not learned \(R5\).*: nokeepalive/) > 0, 1,
    'the log names the variable';
$t->finish;
done_testing;
