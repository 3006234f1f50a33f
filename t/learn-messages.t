# SPDX-License-Identifier: Apache-2.0
# Redirects and 404 that httpd writes itself: repeated where the key decides,
# or what is watched. A was learned, B must be stock httpd's, in bytes and log
# lines.
use strict;
use warnings;
use File::Path qw(remove_tree);
use Test::More;
use Test::Twin;

my $conf = <<'END';
FixedStaticCache 1000 0
LogLevel core:warn
LogFormat "%r|%m|%U|%q|%s|%>s|%f|%b|%B|%O|%k|%X|%{Location}o|%{Content-Type}o|%{Content-Length}o|%{Expires}o|%{X-Teach}i" all
CustomLog logs/all all
END

sub vhost {
    my ($name, $text) = @_;
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name.test\n"
        . "ServerAlias *.$name.test\nDocumentRoot \@ROOT\@/htdocs\n$text\n"
        . "</VirtualHost>\n";
}

my $redirects = <<'END';
Redirect permanent /old https://example.com/new
Redirect /rel /1k.txt
RedirectMatch 303 ^/m/(.*)\.x$ /1k.txt/$1?fixed
Redirect 307 /seven http://example.com/
Redirect 308 /eight http://example.com/
Redirect gone /gone
Redirect 404 /hidden
Redirect 403 /forbidden
END
vhost plain => $redirects;
vhost on => $redirects . <<'END';
UseCanonicalName on
ServerSignature on
Header always set X-Always 1
Header set X-Plain 1
Header always set X-Env 1 env=env
SetEnvIf Request_URI "^/m" env
SetEnvIf Request_URI "^/old" suppress-error-charset
ErrorDocument 404 "nothing here"
ErrorDocument 410 "<p>gone</p>"
END
vhost email => "$redirects\nServerSignature EMail\nServerAdmin a\@b.test";
vhost gzip => "$redirects\nSetOutputFilter DEFLATE";
vhost expires => "$redirects\nExpiresActive on\n"
    . 'ExpiresDefault "access plus 1 hour"';
my $directory = '<Directory "@ROOT@/htdocs">' . "\n";
my @refused = (
    [ log => 'LogLevel core:info' ],
    [ multi => "${directory}Options FollowSymLinks MultiViews\n</Directory>" ],
    [ fallback => 'FallbackResource /1k.txt' ],
    [ fallback2 => "${directory}FallbackResource /late.txt\n</Directory>" ],
    [ expression => 'ErrorDocument 404 "you are %{HTTP_REFERER}"' ],
    [ document => 'ErrorDocument 404 /1k.txt' ],
    [ elsewhere => 'ErrorDocument 404 http://example.com/404' ],
    [ speling => 'CheckSpelling on' ],
    [ denied => "<Location />\nRequire all denied\n</Location>" ],
    [ address => "<Location />\nRequire ip 127.0.0.2\n</Location>" ],
    [ location => '<Location /loc>' . "\n"
        . 'Redirect 302 "http://example.com/%{HTTP_REFERER}"' . "\n</Location>"
    ],
    [ if => qq{<If "%{HTTP_REFERER} == 'x'">\nRedirect /loc /1k.txt\n</If>} ],
);
vhost @$_ for @refused;
vhost dns => "$redirects\nUseCanonicalName DNS";
vhost links => "${directory}Options -FollowSymLinks\n</Directory>";
vhost owner => "${directory}Options SymLinksIfOwnerMatch\n</Directory>";
vhost noslash => "${directory}DirectorySlash off\n</Directory>";

my $t = Test::Twin->new(modules => [qw(alias headers deflate expires
    negotiation autoindex speling)], conf => $conf);
$t->{expires} = 1;
$t->file('d/index.html', "<p>index</p>\n");
$t->file('d/e/index.html', "<p>index</p>\n");
$t->start;

sub request {
    my ($host, $target, @fields) = @_;
    return $t->request($target, "Host: $host.test", @fields);
}

# What only teaches has a field that nothing but the log reads.
sub teach { $_[0] =~ s/\r\n\r\n/\r\nX-Teach: teach\r\n\r\n/r }

sub learn {
    my (@requests) = @_;
    for my $r (@requests) {
        ok $t->learned(teach($r), young => 1),
            'learned: ' . ($r =~ /(.*)\r/)[0]
            or diag $t->fixed->log;
    }
}

# Both servers get these; how many answers are the loop's?
sub exchange {
    my ($name, @requests) = @_;
    my $hits = $t->hits;
    $t->same($name, \@requests);
    return $t->hits - $hits;
}

# What follows from the key.
for my $host (qw(plain on email gzip expires)) {
    for my $target ($host =~ /email|gzip/ ? ('/old', '/d', '/none') : ('/old', '/old/a?b=c', '/rel/x', '/m/a.x', '/seven',
        '/eight?', '/gone', '/hidden', '/d', '/d/e?q', '/none', '/none/a/b',
        '/none/')) {
        my $r = request($host, $target);
        (my $head = $r) =~ s/^GET/HEAD/;
        (my $old = $r) =~ s/1\.1/1.0/;
        learn($r);
        is exchange("$host $target", $r, $head, $r,
            request($host, $target, 'Range: bytes=0-3'),
            request($host, $target, 'If-None-Match: *'),
            request($host, $target, 'If-Modified-Since: '
                . 'Tue, 14 Nov 2023 22:13:20 GMT')), 6, '... by the loop';
        is exchange("$host $target, close", request($host, $target,
            'Connection: close')), 1, '... by the loop';
        next if $host ne 'plain';
        $t->learn(teach($old), young => 1);
        exchange("$host $target, 1.0", $old);
        exchange("$host $target, gzip", request($host, $target,
            'Accept-Encoding: gzip'));
        exchange("$host $target, another host",
            request("www.$host", $target), request($host, $target));
    }
}
for my $target ('/old', '/d', '/none') {
    my $gzip = request('gzip', $target, 'Accept-Encoding: gzip');
    $t->learn(teach($gzip), young => 1);
    exchange("gzip $target", request('gzip', $target), $gzip);
}
# The query is in Location, and so is the host.
for my $host (qw(plain on)) {
    learn(map request($host, "/old/q?$_"), 1, 2);
    learn(map request($host, "/d?$_"), 1, 2);
    exchange("$host: another query", map request($host, $_), '/old/q?3',
        '/d?3', '/old/q', '/d', '/old/q?1', '/d?1');
    exchange("$host: another host", map request("b.$host", $_), '/old', '/d',
        '/rel', '/none');
    exchange("$host: another port", map $t->request($_, "Host: $host.test:81"),
        '/old', '/d', '/rel', '/none');
}
learn(map request('plain', "/none.txt?$_"), 1, 2);
is exchange('any query of a missing name', request('plain', '/none.txt?3')), 1,
    '... by the loop';

# 403 is httpd's, always.
{
    my $r = request('plain', '/forbidden');
    $t->learn(teach($r), young => 1);
    is exchange('403', $r), 0, '... httpd';
}

# What is watched: A, a change, B.
my $repeated = 0;

sub changes {
    my ($target, $host, @steps) = @_;
    my $r = request($host, $target);
    while (my ($name, $do) = splice @steps, 0, 2) {
        my $hits = $t->hits;
        $t->ask($t->fixed, [ (teach($r)) x 2 ]) for 1 .. 4;
        $repeated += $t->hits > $hits;
        $t->change($do);
        exchange("$host $target: $name", $r, $r);
    }
}

sub text {
    my ($path) = @_;
    open my $fh, '>', $path or die "$path: $!";
    print {$fh} "here\n";
    close $fh;
    utime((1_600_000_000) x 2, $path);
}

for my $host (qw(plain owner)) {
    for my $target ('/late.txt', $host eq 'plain' ? ('/late.txt/', '/late.txt/x')
        : ()) {
        changes($target, $host,
            'appears' => sub { text("$_[0]/late.txt") },
            'vanishes' => sub { unlink "$_[0]/late.txt" },
            'a directory' => sub { mkdir "$_[0]/late.txt" },
            'with an index' => sub { text("$_[0]/late.txt/index.html") },
            'vanishes again' => sub { remove_tree("$_[0]/late.txt") },
            'a dangling link' => sub { symlink 'nowhere', "$_[0]/late.txt" },
            'a link to a file' => sub {
                unlink "$_[0]/late.txt";
                symlink '1k.txt', "$_[0]/late.txt";
            },
            'a link to a directory' => sub {
                unlink "$_[0]/late.txt";
                symlink 'd', "$_[0]/late.txt";
            },
            'no link' => sub { unlink "$_[0]/late.txt" },
            'unreadable' => sub {
                text("$_[0]/late.txt");
                chmod 0, "$_[0]/late.txt";
            },
            'gone' => sub { unlink "$_[0]/late.txt" });
    }
}
for my $host (qw(plain links)) {
    changes('/p/q/r.txt', $host,
        'a parent' => sub { mkdir "$_[0]/p" },
        'another' => sub { mkdir "$_[0]/p/q" },
        'it' => sub { text("$_[0]/p/q/r.txt") },
        'its parent moved' => sub { rename "$_[0]/p", "$_[0]/o" },
        'a link instead' => sub { symlink 'o', "$_[0]/p" },
        'it has gone' => sub { unlink "$_[0]/o/q/r.txt" },
        'another parent' => sub {
            unlink "$_[0]/p";
            mkdir "$_[0]/p";
        },
        'a file' => sub { rmdir "$_[0]/p"; text("$_[0]/p") },
        'nothing' => sub { unlink "$_[0]/p"; remove_tree("$_[0]/o") });
    changes('/s', $host,
        'a directory' => sub { mkdir "$_[0]/s" },
        'another' => sub { mkdir "$_[0]/n"; rename "$_[0]/n", "$_[0]/s" },
        'a file' => sub { rmdir "$_[0]/s"; text("$_[0]/s") },
        'a directory again' => sub { unlink "$_[0]/s"; mkdir "$_[0]/s" },
        'closed' => sub { chmod 0, "$_[0]/s" },
        'open' => sub { chmod 0755, "$_[0]/s" },
        'a link' => sub { rename "$_[0]/s", "$_[0]/t"; symlink 't', "$_[0]/s" },
        'gone' => sub { unlink "$_[0]/s"; rmdir "$_[0]/t" });
    changes('/d', 'noslash', 'no redirect' => sub { });
    changes('/c/x/y', $host,
        'a directory' => sub { mkdir "$_[0]/c" },
        'closed' => sub { chmod 0, "$_[0]/c" },
        'open' => sub { chmod 0755, "$_[0]/c" },
        'gone' => sub { rmdir "$_[0]/c" });
}

cmp_ok $repeated, '>', 30, 'A was repeated';

# What refuses: A, then B.
for (@refused, ['dns']) {
    my ($host) = @$_;
    for my $target ($host eq 'location' ? '/loc' : '/late.txt',
        $host =~ /multi|speling/ ? ('/lat.txt', '/late') : ()) {
        my $r = request($host, $target);
        $t->ask($t->fixed, [ (teach($r)) x 2 ]) for 1 .. 4;
        is exchange("$host $target: A", $r), 0, '... httpd';
        exchange("$host $target: B, another field",
            request($host, $target, 'Referer: x'));
    }
    $t->change(sub { text("$_[0]/late.txt"); text("$_[0]/late.html") });
    exchange("$host: B, a file", map request($host, $_), '/late.txt',
        '/lat.txt');
    # what is negotiated has a time in its tag
    my @status = map { ($t->ask($_, request($host, '/late')))[0] =~ /^(.*)\r/ }
        $t->both;
    is $status[1], $status[0], "$host: B, with a suffix";
    $t->change(sub { unlink map "$_[0]/late.$_", qw(txt html) });
    exchange("$host: A again", request($host, '/late.txt'));
}
is $t->counter('differed'), 0, 'audits found nothing';

# Log lines, of those that both were sent: A only teaches, and has no field.
sub lines {
    my ($h) = @_;
    my ($root, $port) = ($h->root, $h->port);
    open my $fh, '<', "$root/logs/all" or return '';
    my %seen;
    return join '', sort grep !$seen{$_}++ && !/cpuaffinity|teach$/,
        map s/\Q$root\E/ROOT/r =~ s/\b$port\b/PORT/r =~ s/\w{3}, [^|]* GMT/DATE/r,
        <$fh>;
}
my $stock = lines($t->stock);
$t->fixed->wait_for(sub { length lines($t->fixed) >= length $stock }, 10);
my %known = map { $_ => 1 } split /\n/, $stock;
is join("\n", grep !$known{$_}, split /\n/, lines($t->fixed)), '',
    'no log line that is not stock httpd\'s';
cmp_ok scalar keys %known, '>', 300, '... of many';
$t->finish;
done_testing;
