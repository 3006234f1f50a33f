# SPDX-License-Identifier: Apache-2.0
# Variables that SetEnvIf sets by what is in the key (Request_URI,
# Request_Protocol, Host, Server_Addr): answers and log lines that depend on
# them are stock httpd's. What is set, or taken away, by anything else is not
# repeated: A was learned, B must differ.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use Time::HiRes qw(sleep time);

my @vhosts;

sub vhost {
    my ($name, $text) = @_;
    push @vhosts, $name;
    return "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "ServerAlias *.$name.test\nDocumentRoot \@ROOT\@/htdocs\n$text\n"
        . "</VirtualHost>\n";
}

my $conf = '';
$conf .= vhost images => <<'END';
SetEnvIfNoCase Request_URI "\.(gif|png)$" dontlog
CustomLog logs/images "%U %q %s %{dontlog}e %{X-Teach}i" env=!dontlog
CustomLog logs/only "%U %q %s %{dontlog}e %{X-Teach}i" env=dontlog
END
$conf .= vhost values => <<'END';
SetEnvIf Request_URI "^/(\w+)\.(\w+)$" name=$1 kind=$2 !none
SetEnvIf Request_Protocol "HTTP/1.0" old
SetEnvIf Host "^(\w*)\." host=$1
SetEnvIf Host "^$" nohost
SetEnvIf Server_Addr "^127\.0\.0\.(\d+)" address=$1
SetEnv constant yes
LogFormat "%U %q %{name}e %{kind}e %{old}e %{host}e %{nohost}e %{address}e %{constant}e %{absent}e %{X-Teach}i" v
CustomLog logs/values v
END
$conf .= vhost headers => <<'END';
SetEnvIf Request_URI "\.(gif|png)$" image
SetEnvIf Request_URI "/b" !image
Header set Cache-Control "max-age=60" env=image
Header set Cache-Control "no-cache" env=!image
Header always append X-Kind image env=image
Header unset ETag env=image
END
$conf .= vhost section => <<'END';
<LocationMatch "^/[ab]">
    SetEnvIf Request_URI "png" image
    Header set X-Image 1 env=image
</LocationMatch>
<Location "/a">
    SetEnvIf Request_URI "a" !image
</Location>
CustomLog logs/section "%U %{image}e %{X-Teach}i"
END
# A field sets the variable too, or takes it away.
$conf .= vhost field => <<'END';
SetEnvIf Request_URI "png" dontlog
SetEnvIf Referer "evil" dontlog=evil
SetEnvIf User-Agent "bot" !dontlog
CustomLog logs/field "%U %{dontlog}e %{X-Teach}i"
Header set X-Log no env=dontlog
END
# A variable that is looked at as one, before and after it is set; a field of
# its name hides it.
$conf .= vhost follows => <<'END';
SetEnvIf late 1 toolate
SetEnvIf Request_URI "png" first
SetEnvIf first 1 second=2
SetEnvIf second 2 third
SetEnvIf Request_URI "png" late
<Location "/">
    SetEnvIf late 1 intime
</Location>
CustomLog logs/follows "%U %{first}e %{second}e %{third}e %{toolate}e %{intime}e %{X-Teach}i"
Header set X-Third yes env=third
Header set X-In-Time yes env=intime
END
# What httpd itself looks at.
$conf .= vhost gzip => <<'END';
SetEnvIf Request_URI "png" no-gzip dont-vary
SetEnvIf Request_URI "b.txt" nokeepalive
SetEnvIf Request_URI "c.txt" downgrade-1.0 force-response-1.0
SetOutputFilter DEFLATE
END
my @refused = (
    [ method => 'SetEnvIf Request_Method HEAD head' ],
    [ addr => 'SetEnvIf Remote_Addr 127.0.0.1 local' ],
    [ host => 'SetEnvIf Remote_Host . name' ],
    [ expr => q{SetEnvIfExpr "%{REQUEST_URI} =~ /png/" image} ],
    [ pattern => 'SetEnvIf ^X-.*$ . x' ],
    [ absent => 'SetEnvIf Referer "^$" direct' ],
    [ header => q{Header set X-A b "expr=%{REQUEST_URI} =~ /png/"} ],
    [ value => 'Header set X-A "%{REMOTE_ADDR}e" env=x' ],
    [ early => 'Header set X-A b early' ],
);
$conf .= vhost @$_ for @refused;

my $t = Test::Twin->new(modules => [qw(headers deflate)], conf => $conf);
my @files = qw(a.png a.txt b.png b.txt c.txt);
$t->file($_, "some text $_\n" x 10) for @files;
$t->start;

# What a log has of the requests that both got, in any order: those that only
# teach have a field that nothing but the log reads.
sub lines {
    my ($h, $log) = @_;
    open my $fh, '<', $h->root . "/logs/$log" or return '';
    return join '', sort grep !m{teach$|^/cpuaffinity}, <$fh>;
}

sub teach {
    my ($r) = @_;
    return $r =~ s/\r\n\r\n/\r\nX-Teach: teach\r\n\r\n/r;
}

# Teaches until the loop gives the first answers of connections and later ones.
# @return true when it does
sub known {
    my ($r) = @_;
    return $t->fixed->wait_for(sub {
        my $hits = $t->hits;
        $t->ask($t->fixed, [ (teach($r)) x 3 ]);
        return $t->hits - $hits == 3;
    }, 10);
}

# Both servers get these. @return how many of them the loop answered
sub exchange {
    my ($name, @requests) = @_;
    my $hits = $t->hits;
    $t->same($name, \@requests);
    return $t->hits - $hits;
}

sub request {
    my ($host, $file, @fields) = @_;
    return $t->request("/$file", "Host: $host.test", @fields);
}

for my $host (qw(images values headers section field follows)) {
    for my $file (qw(a.png a.txt b.png)) {
        my $r = request($host, $file);
        ok known($r), "$host, $file: learned" or diag $t->fixed->log;
        (my $head = $r) =~ s/^GET/HEAD/;
        (my $old = $r) =~ s/HTTP\/1.1/HTTP\/1.0/;
        # An ETag is touched in "headers": its ranges are httpd's.
        cmp_ok exchange("$host, $file", $r, $head,
            request($host, $file, 'Range: bytes=2-5'), $r), '>=',
            $host eq 'headers' ? 2 : 3, "$host, $file: by the loop";
        exchange("$host, $file, If-None-Match",
            request($host, $file, 'If-None-Match: *'));
        $t->learn(teach($old)) if $host eq 'values';
        exchange("$host, $file, HTTP/1.0", $old);
    }
}
# Part of the key: another host, none, a query, an address.
for my $fields ([ 'Host: www.values.test' ], [ 'Host: values.test' ]) {
    for my $target ('/a.png?x.gif', '/a.png', '/a.png?y') {
        my $r = $t->request($target, @$fields);
        ok known($r), "$target: learned";
        cmp_ok exchange("$target, @$fields", $r, $r), '>', 0,
            'by the loop';
    }
}
# B: the field that matches makes it httpd's, whatever is known.
for my $file (qw(a.png a.txt)) {
    for my $b ('Referer: evil', 'User-Agent: bot',
        "Referer: evil\r\nUser-Agent: bot") {
        my $r = request('field', $file, $b);
        $t->learn(teach($r));
        is exchange("field, $file, $b", $r, $r), 0, 'httpd';
        exchange("field, $file, after it",
            request('field', $file, 'Referer: good'));
    }
}
for my $b ('first: 0', 'second: 3', 'late: x', 'first: 1', 'third: 1') {
    my $r = request('follows', 'a.png', $b);
    $t->learn(teach($r));
    exchange("follows, $b", $r, $r);
    exchange("follows, after $b", request('follows', 'a.png'));
}

# Filters and the connection.
for my $file (qw(a.png b.txt c.txt)) {
    my $gzip = request('gzip', $file, 'Accept-Encoding: gzip');
    my $plain = request('gzip', $file);
    $t->learn(teach($_)) for $gzip, $plain;
    exchange("gzip, $file", $_, $_) for $plain, $gzip;
    my $n = exchange("gzip, $file again", $plain);
    is $n, 0, "$file: httpd" if $file =~ /txt/;
}

for (@refused) {
    my ($host, $text) = @$_;
    my $r = request($host, 'a.png');
    my $before = $t->hits;
    $t->learn(teach($r));
    $t->same("$host: B", [ request($host, 'a.png', 'Referer: x'), $r ]);
    is $t->hits, $before, "$text: refused";
    my ($directive) = split ' ', $text;
    like $t->fixed->log,
        qr/is off for \Q$host\E\.test \(S2\): $directive \(\S+:\d+\)/, '... by name';
}
is $t->counter('differed'), 0, 'audits found nothing';

# A line is written when its answer has left: wait for the last of them.
for my $log (qw(images only values section field follows)) {
    my $stock = lines($t->stock, $log);
    $t->fixed->wait_for(sub { lines($t->fixed, $log) eq $stock }, 10);
    is lines($t->fixed, $log), $stock, "log $log";
    cmp_ok length $stock, '>', 50, '... has lines';
}
like lines($t->fixed, 'only'), qr{^/a.png  200 1 -$}m, 'an image';
unlike lines($t->fixed, 'images'), qr/png/, 'where none should be';
$t->finish;
done_testing;
