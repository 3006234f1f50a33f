# SPDX-License-Identifier: Apache-2.0
# One answer for all queries where nobody reads them; a query for itself where
# somebody does. A was learned, B must be stock httpd's, in bytes and log lines.
use strict;
use warnings;
use Test::More;
use Test::Twin;

my $conf = 'LogFormat "%r|%m|%U|%q|%s|%f|%b|%O|%{Referer}i" all' . "\n"
    . 'CustomLog logs/all all' . "\n";

sub vhost {
    my ($name, $text) = @_;
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "DocumentRoot \@ROOT\@/htdocs\n$text\n</VirtualHost>\n";
}

vhost plain => '';
# What looks at the path is no reader.
vhost path => <<'END';
SetEnvIf Request_URI "secret" hide
SetEnvIf Request_URI "a\.txt$" text
Header set X-Hide 1 env=hide
Header set X-Text 1 env=text
<LocationMatch "secret">
    Header set X-Match 1
</LocationMatch>
<Location "/a.txt">
    Header set X-Location 1
</Location>
END
vhost gzip => 'SetOutputFilter DEFLATE';
# It follows from the file's time, and Date moves: two answers differ.
vhost moves => <<'END';
ExpiresActive on
ExpiresDefault "modification plus 20 years"
END
my @readers = (
    [ if => q{<If "%{QUERY_STRING} =~ /x/">}
        . "\nHeader set X-If 1\n</If>" ],
    [ line => q{<If "%{THE_REQUEST} =~ /\?x/">}
        . "\nHeader set X-If 1\n</If>" ],
    [ require => q{<Location "/a.txt">} . "\n"
        . q{Require expr "%{QUERY_STRING} !~ /x/"} . "\n</Location>" ],
    [ expr => q{Header set X-Expr 1 "expr=%{QUERY_STRING} =~ /x/"} ],
    [ value => q{Header set X-Value "expr=%{QUERY_STRING}"} ],
    [ location => q{<Location "/a.txt">} . "\n"
        . q{Header set X-Value "expr=%{the_request}"} . "\n</Location>" ],
    [ setenvif => q{SetEnvIfExpr "%{QUERY_STRING} =~ /x/" x} . "\n"
        . 'Header set X-Env 1 env=x' ],
    [ rewrite => "RewriteEngine on\nRewriteCond %{QUERY_STRING} x\n"
        . 'RewriteRule ^ - [E=x:1]' . "\nHeader set X-Env 1 env=x" ],
    [ request => "RewriteEngine on\nRewriteCond %{THE_REQUEST} \\?x\n"
        . 'RewriteRule ^ - [E=x:1]' . "\nHeader set X-Env 1 env=x" ],
    [ forbidden => "RewriteEngine on\nRewriteCond %{QUERY_STRING} x\n"
        . 'RewriteRule ^ - [F]' ],
);
vhost @$_ for @readers;
# The name alone is enough, whoever reads it.
vhost named => 'SetEnv NAME query_string';
vhost inside => qq{<Directory "\@ROOT\@/htdocs/d">\n}
    . qq{SetEnv NAME "the THE_REQUEST"\n</Directory>};

my $t = Test::Twin->new(modules => [qw(headers deflate expires rewrite)],
    conf => $conf);
$t->file('a.txt', "some text\n" x 20);
$t->file('a.gif', 'GIF');
$t->file('d/index.html', "<p>index</p>\n" x 20);
$t->start;

sub request {
    my ($host, $target, @fields) = @_;
    return $t->request($target, "Host: $host.test", @fields);
}

# Does the loop answer these alone, each on a new connection and twice on a
# kept one? Stock httpd's answers they are in any case.
sub known {
    my ($name, @requests) = @_;
    for my $r (@requests) {
        my $before = $t->hits;
        my ($line) = $r =~ /^(.{0,60})/;
        $t->same("$name: $line", [ ($r) x 3 ]);
        is $t->hits - $before, 3, '... by the loop';
    }
}

sub learn { ok $t->learned($_), "learned: " . substr $_, 0, 40 for @_ }

my @queries = ('?', '??', '?x', '?ver=6.1', '?%22%27', '?%00', '?a=b&c=d;e',
    '?/../..', '?' . 'q' x 3000, '');

# Two queries are learned; any other is known, and so is none.
for my $host (qw(plain path)) {
    for my $path ('/a.txt', '/a.gif', '/d/') {
        learn(map request($host, "$path$_"), '?one', '?two');
        known($host, map request($host, "$path$_"),
            $host eq 'plain' ? @queries : ('?secret', '?a.txt', ''));
    }
}
for my $method (qw(HEAD GET)) {
    my @fields = ('Range: bytes=2-5', 'If-None-Match: *', 'Cookie: a=b',
        'Cache-Control: no-cache', 'Referer: x');
    known('plain', map request('plain', "/a.txt?new$method", $_)
        =~ s/^GET/$method/r, @fields);
    $t->same("$method, 1970", request('plain', "/a.txt?new$method",
        'If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT')
        =~ s/^GET/$method/r);
}
# One query, and none, show it as well.
learn(request('plain', '/1k.txt'));
{
    my $r = request('plain', '/1k.txt?1');
    my $hits = $t->hits;
    $t->same('no query alone shows nothing', [$r]);
    is $t->hits, $hits, '... httpd';
}
learn(request('plain', '/1k.txt?2'));
known('none and one', map request('plain', "/1k.txt?$_"), 3 .. 5);

# A flood of queries takes no room.
{
    my @counters = ($t->hits, $t->counter('learned'));
    $t->same('a flood', [ map request('plain', "/1k.txt?f$_"), 1 .. 50 ]);
    is $t->hits - $counters[0], 50, '... by the loop';
    is $t->counter('learned'), $counters[1], '... with what it has';
}

# Of compressed answers, each coding for itself.
learn(map request('gzip', $_, 'Accept-Encoding: gzip'), '/a.txt?1', '/a.txt');
known('gzip', request('gzip', '/a.txt?3', 'Accept-Encoding: gzip'));
learn(map request('gzip', $_), '/a.txt?1', '/a.txt');
known('gzip', request('gzip', '/a.txt?4'),
    request('gzip', '/a.txt?5', 'Accept-Encoding: gzip'));

# What httpd refuses because of the query is its own.
$t->same("a line of $_", request('plain', '/a.txt?' . 'q' x $_, 'Connection: '
    . 'close')) for 7000, 8170, 8190, 9000;
for my $query ('?"', '?a#b', '?<b>', '?%', '?%4', '?a\\b', "?\xe9", '?{}') {
    my $hits = $t->hits;
    $t->same("as httpd takes $query", request('plain', "/a.txt$query"));
    is $t->hits, $hits, '... httpd';
}
for my $method (qw(POST TRACE)) {
    my $r = request('plain', '/a.txt?2', 'Content-Length: 0',
        'Connection: close') =~ s/^GET/$method/r;
    $t->same($method, $r);
}

# A change of the file is seen.
$t->file('a.txt', "another text\n", mtime => 1_600_000_000);
$t->settle;
learn(map request('plain', "/a.txt?$_"), 'b1', 'b2');
known('changed', request('plain', '/a.txt?b3'));

# Readers: A, then B, and A again.
for (@readers, ['named'], ['inside']) {
    my ($host) = @$_;
    for my $path ('/a.txt', '/d/') {
        my @a = map request($host, "$path$_"), '?1', '?2', '';
        my $b = request($host, "$path?x");
        $t->learn($_) for @a;
        $t->same("$host: A -> B", [ @a, $b, $b, @a ]);
        $t->learn($b);
        $t->same("$host: B -> A", [ $b, @a, $b ]);
    }
    my $hits = $t->hits;
    $t->same("$host: another query", request($host, "/a.txt?another"));
    is $t->hits, $hits, '... httpd';
}
# ... where each is known for itself.
learn(request('named', '/a.txt?1'));
known('named', request('named', '/a.txt?1'));

# A difference that no directive explains.
{
    my @r = map request('moves', "/a.txt?$_"), 1, 2;
    ok $t->fixed->wait_for(sub {
        $t->learn($_) for @r;
        $t->fixed->log =~ m{answers are kept by query: of \S+/a\.txt there};
    }, 10), 'two answers for two queries are noticed';
    $t->same('... and httpd answers', \@r);
    learn(map request('plain', "/a.gif$_"), '?1', '?2');
    known('other hosts', request('plain', '/a.gif?3'));
}
is $t->counter('differed'), 0, 'audits found nothing';

# The lines have what each client sent.
sub lines {
    my ($h) = @_;
    my $root = $h->root;
    open my $fh, '<', "$root/logs/all" or return '';
    return join '', sort grep /\?new|\?b3|\?f\d|%00|x 3000/,
        map s/\Q$root\E/ROOT/r, <$fh>;
}
my $stock = lines($t->stock);
$t->fixed->wait_for(sub { lines($t->fixed) eq $stock }, 10);
is lines($t->fixed), $stock, 'log lines';
cmp_ok length $stock, '>', 5000, '... there are many';

like +($t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY'))[1],
    qr/named\.test: answers may be repeated\n  kept by query: SetEnv \(\S+:\d+\)/,
    'the dump names a reader';
$t->finish;
done_testing;
