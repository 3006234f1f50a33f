# SPDX-License-Identifier: Apache-2.0
# Access logs, item by item: what the loop writes is what stock httpd writes,
# and a virtual host whose log shows anything else is refused by name.
use strict;
use warnings;
no warnings "qw"; # %!200,304{Host}i
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

my (@vhosts, %why);

# A virtual host with a log of its name.
sub vhost {
    my ($name, $text) = @_;
    push @vhosts, <<"END";
<VirtualHost *:\@PORT\@>
    ServerName $name.test
    DocumentRoot \@ROOT\@/htdocs
    $text
</VirtualHost>
END
}

sub quoted { my ($s) = @_; $s =~ s/"/\\"/g; return $s }

my @exact = (
    qw(%% %h %{c}h %a %{c}a %A %p %{canonical}p %{local}p %{other}p %l %u %r
        %m %U %q %H %f %s %>s %<s %b %B %O %k %X %v %V %L %{X}e %{X}^ti
        %{X}^to %{a}C %{Host}i %!200,304{Host}i %200{Host}i %{Host}404i
        %<{Host}i %{Host}>i),
    map("%{$_}i", qw(User-Agent Cookie Range If-None-Match
        If-Modified-Since Connection Absent)),
    map("%{$_}o", qw(Date Server Content-Type Content-Length ETag
        Last-Modified Connection Keep-Alive Accept-Ranges Content-Range Vary
        X-A Absent)),
);
my $exact = quoted join ' ', map { (my $n = $_) =~ s/%/#/g; "$n=$_" } @exact;
vhost 'exact', "CustomLog logs/exact \"$exact\"\nHeader set X-A b";
vhost 'times', "CustomLog logs/times \"%T %D %{ms}T %{us}T %P %{pid}P %{%s}t "
    . '%{sec}t %{usec}t %{begin:msec_frac}t %{begin}t"';
vhost 'clash1', "LogFormat \"%{X}e %U\" both\nSetEnv X 1\n"
    . 'CustomLog logs/clash1 both';
vhost 'clash2', "LogFormat \"%U\" both\nCustomLog logs/clash2 both";
vhost 'condition', "CustomLog logs/condition \"%U\" env=!X\n"
    . 'CustomLog logs/never "%U" env=X';
vhost 'names', <<'END';
CustomLog logs/names "%h %{c}h %a %U"
<Location /h>
    Require host localhost
</Location>
END
vhost 'told', "LogLevel authz_core:debug\nCustomLog logs/told \"%U %L\"";

# What is refused, and the item that the reason names.
my @refused = (
    [ n => '%{X}n' ], [ handler => '%R' ], [ ssl => '%{X}x' ],
    [ cert => '%{X}c' ], [ tid => '%{tid}P' ], [ hextid => '%{hextid}P' ],
    [ connection => '%{c}L' ], [ status => '%!200{X}n' ],
    [ modifier => '%>{X}n' ], [ end => '%{end:usec}t' ], [ ttfb => '%^FB' ],
);
for (@refused) {
    my ($name, $item) = @$_;
    vhost $name, "CustomLog logs/$name \"%U $item\"";
    ($why{$name} = $item) =~ s/^/CustomLog .*/;
}
vhost 'dns', "UseCanonicalName DNS\nCustomLog logs/dns \"%U %V\"";
$why{dns} = '%V .*UseCanonicalName DNS';
vhost 'ident', "IdentityCheck On\nIdentityCheckTimeout 1\n"
    . 'CustomLog logs/ident "%U %l"';
$why{ident} = 'IdentityCheck .*%l';
vhost 'cased', 'CustomLog logs/cased NiCk';
vhost 'main', "LogFormat \"%U\" nick\nCustomLog logs/main nick";
$why{$_} = 'CustomLog .*%{X}n' for qw(cased main);
vhost 'transfer', "LogFormat nick\nTransferLog logs/transfer";
$why{transfer} = 'TransferLog .*%{X}n';
vhost 'expr', 'CustomLog logs/expr "%U" "expr=%{REQUEST_URI} =~ /k/"';
$why{expr} = 'expr=';

my $t = Test::Twin->new(modules => [qw(logio headers ident ssl)],
    conf => <<'END' . join '', @vhosts);
LogFormat "%{X}n %U" nick
CustomLog logs/inherited "%{X}n"
MaxKeepAliveRequests 3
IdentityCheck Off
END
$t->file('empty.txt', '');
$t->file('h/x.txt', 'x');
$t->start;

# Waits until the logs have stopped growing.
sub quiet {
    my ($twin) = @_;
    my ($last, $since) = ('', time);
    $twin->fixed->wait_for(sub {
        my $now = join ' ', map -s, map glob($_->root . '/logs/*'), $twin->both;
        ($last, $since) = ($now, time) if $now ne $last;
        return time - $since >= 0.3;
    }, 10);
}

sub size { my ($h, $log) = @_; return -s($h->root . "/logs/$log") // 0 }

# What was written since.
sub lines {
    my ($h, $log, $from) = @_;
    open my $fh, '<', $h->root . "/logs/$log" or return '';
    seek $fh, $from, 0;
    local $/;
    my $text = <$fh> // '';
    my ($root, $port) = ($h->root, $h->port);
    $text =~ s/\Q$root\E/ROOT/g;
    $text =~ s/\b$port\b/PORT/g;
    $text =~ s{(?<=[= ])[\w+/]{11}(?=[ \n])}{LOGID}g;
    return join '', sort grep !m{/cpuaffinity}, split /(?<=\n)/, $text;
}

# Shows of long texts only what differs.
sub same_text {
    my ($got, $want, $name) = @_;
    return if ok $got eq $want, $name;
    my @got = split /\n/, $got;
    my @want = split /\n/, $want;
    diag scalar(@got) . ' lines for ' . @want;
    for my $i (0 .. ($#got < $#want ? $#got : $#want)) {
        my @g = split / (?=#)/, $got[$i];
        my @w = split / (?=#)/, $want[$i];
        diag "$i ($got[$i]): " =~ s/^(.{0,300}).*/$1/r;
        $g[$_] eq $w[$_] || diag "got $g[$_], want $w[$_]" for 0 .. $#g;
    }
}

# The same requests to both, and the same lines, however long it takes until
# they are there. @return the lines; and how many the loop answered
sub same_lines {
    my ($twin, $log, @connections) = @_;
    quiet($twin);
    my $hits = $twin->hits;
    my @from = map size($_, $log), $twin->both;
    my $n = 0;
    for my $c (@connections) {
        $twin->same("$log: the same answers " . ++$n, $c);
    }
    my @got;
    $twin->fixed->wait_for(sub {
        @got = map lines(($twin->both)[$_], $log, $from[$_]), 0, 1;
        return $got[0] eq $got[1];
    }, 10);
    same_text(@got[ 1, 0 ], "$log: the same lines");
    return ($got[1], $twin->hits - $hits);
}

sub to {
    my ($name, $target, @fields) = @_;
    return $t->request($target, "Host: $name.test", @fields);
}

# --- items that the loop writes ---
my @requests = (
    to('exact', '/1k.txt'), to('exact', '/empty.txt'), to('exact', '/'),
    to('exact', '/1k.txt?q=1', 'Cookie: b=c; a=d', 'User-Agent: "x\\y'),
    to('exact', '/1k.txt', 'Range: bytes=1-9'),
    to('exact', '/1k.txt', 'Range: bytes=0-1022'),
    to('exact', '/1k.txt', 'If-Modified-Since: Tue, 14 Nov 2023 22:13:20 GMT'),
    to('exact', '/1k.txt', 'Connection: close'),
    to('exact', '/none'),
);
push @requests, map s/^GET/HEAD/r, @requests[ 0 .. 4 ];
push @requests, map s/HTTP\/1\.1/HTTP\/1.0/r, @requests[ 0, 1, 6 ];
$t->learn($_) for @requests;
my ($got, $hits) = same_lines($t, 'exact',
    map /HTTP\/1\.0|close/ ? [$_] : [ ($_) x 3 ], @requests);
cmp_ok $hits, '>', 25, 'most of them are the loop\'s';

my $one = to('times', '/1k.txt');
$t->learned($one);
quiet($t);
my $from = size($t->fixed, 'times');
$hits = $t->hits;
my $now = time;
$t->ask($t->fixed, [ ($one) x 3 ]) for 1 .. 20;
cmp_ok $t->hits - $hits, '>', 50, 'times: by the loop';
my ($text, @odd);
$t->fixed->wait_for(sub {
    ($text = lines($t->fixed, 'times', $from)) =~ tr/\n// >= 60;
});
for (split /\n/, $text) {
    my ($sec, $us, $ms, $same, $pid, $again, $s, $sec2, $begin, $frac)
        = split;
    push @odd, $_ unless $us == $same && $ms == int($us / 1000)
        && $sec == int($us / 1e6) && $pid == $again && $s == $sec2
        && $s == int($begin / 1e6) && $us >= 0 && $us < 1e7
        && $frac == int($begin / 1000) % 1000 && abs($s - $now) < 30;
}
is_deeply \@odd, [], 'times that agree with each other';

# --- traps ---
for (qw(clash1 clash2 condition told)) {
    /told/ ? $t->learn(to($_, '/1k.txt'))
        : $t->learned(to($_, '/1k.txt'));
    (undef, $hits) = same_lines($t, $_, [ (to($_, '/1k.txt')) x 3 ]);
    if (/told/) {
        is $hits, 0, "$_: httpd's answers";
    }
    else {
        cmp_ok $hits, '>', 0, "$_: by the loop";
    }
}
is size($t->fixed, 'never'), 0, 'a condition that is not met';

# A name that httpd has looked up is logged for the rest of the connection.
my $plain = to('names', '/1k.txt');
$t->learned($plain);
$t->learn(to('names', '/h/x.txt'));
($got, $hits) = same_lines($t, 'names', [ to('names', '/h/x.txt'),
    $plain, $plain ], [ $plain, to('names', '/h/x.txt'), $plain ],
    [ ($plain) x 3 ]);
cmp_ok $hits, '>', 2, 'names: the loop answers where there is none';
like $got, qr{^localhost localhost 127\.0\.0\.1 /1k}m, 'and it was logged';

# --- what is refused ---
my %servers = map { $_->{server} => $_ }
    @{ $t->fixed->json('/cpuaffinity?json')->{learning}{servers} };
for my $name (sort keys %why) {
    my $item = $why{$name} =~ s/([{}^!])/\\$1/gr;
    my $s = $servers{"$name.test"};
    is $s->{state}, 'off', "$name is refused";
    like $s->{why}, qr{$item}, "$name: by item";
    like $s->{why}, qr{httpd\.conf:\d+}, "$name: by place";
    $t->learn(to($name, '/1k.txt'));
    (undef, $hits) = same_lines($t, $name, [ (to($name, '/1k.txt')) x 2 ])
        unless $name =~ /tid|connection|dns|end/;
    is $hits, 0, "$name: not the loop's";
}
is $servers{"$_.test"}{state}, 'on', "$_ is not refused"
    for qw(exact times clash1 clash2 condition names told);
$t->finish;

# GlobalLog is every server's.
{
    my $g = Test::Twin->new(conf => <<'END');
GlobalLog logs/global "%R %U"
<VirtualHost *:@PORT@>
    DocumentRoot @ROOT@/htdocs
    CustomLog logs/own "%U"
</VirtualHost>
END
    $g->start;
    $g->learn($g->request('/1k.txt'));
    is $g->hits, 0, 'GlobalLog: refused in a virtual host with its own log';
    my ($s) = @{ $g->fixed->json('/cpuaffinity?json')->{learning}{servers} };
    like $s->{why}, qr{GlobalLog .*%R}, 'by item';
    $g->finish;
}

# A log that takes no lines for a while does not make answers slow.
{
    my $b = Test::Twin->new(conf => "MaxKeepAliveRequests 0\n"
        . "CustomLog \"|\@ROOT\@/cgi-bin/reader\" \"%{usec}t %D "
        . '0' x 500 . "\"\n");
    for my $h ($b->both) {
        my $root = $h->root;
        $h->write_file('cgi-bin/reader', <<"END", 0755);
#!/bin/sh
while [ ! -e $root/run/read ]; do sleep 0.1; done
exec cat >>$root/logs/slow
END
    }
    $b->start;
    my $r = $b->request('/1k.txt');
    $b->learned($r);
    my $start = time;
    $b->ask($b->fixed, [ ($r) x 300 ]);
    my $took = time - $start;
    sleep 2;
    $_->write_file('run/read', '') for $b->both;
    my $text = '';
    $b->fixed->wait_for(sub {
        $text = lines($b->fixed, 'slow', 0);
        return ($text =~ tr/\n//) >= 300;
    }, 10);
    cmp_ok $text =~ tr/\n//, '>=', 300, 'all lines come in the end';
    my @odd = grep { my ($t, $d) = split; $d > 1e6 * $took || $d < 0 }
        split /\n/, $text;
    is_deeply \@odd, [], 'and tell how long answers took, not lines';
    $b->finish;
}
done_testing;
