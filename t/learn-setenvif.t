# SPDX-License-Identifier: Apache-2.0
# What SetEnvIf and BrowserMatch look for is evaluated by the loop only in a
# form whose time no client controls; all else is httpd's, with httpd's answer.
# The CPU time of the loop's thread is what counts, not how long anything took.
use strict;
use warnings;
use Test::Client;
use Test::More;
use Test::Twin;
use POSIX ();

# Debian's own lines, one that takes PCRE's whole limit, and one for which
# there is no linear form.
my $t = Test::Twin->new(conf => <<'END', modules => ['headers']);
BrowserMatch "Mozilla/2" nokeepalive
BrowserMatch "MSIE 4\.0b2;" nokeepalive downgrade-1.0 force-response-1.0
BrowserMatch "RealPlayer 4\.0" force-response-1.0
BrowserMatch "Java/1\.0" force-response-1.0
BrowserMatch "JDK/1\.0" force-response-1.0
BrowserMatch "Microsoft Data Access Internet Publishing Provider" redirect-carefully
BrowserMatch "MS FrontPage" redirect-carefully
BrowserMatch "^WebDrive" redirect-carefully
BrowserMatch "^WebDAVFS/1.[012345678]" redirect-carefully
BrowserMatch "^gnome-vfs/1.0" redirect-carefully
BrowserMatch "^gvfs/1" redirect-carefully
BrowserMatch "^XML Spy" redirect-carefully
BrowserMatch "^Dreamweaver-WebDAV-SCM1" redirect-carefully
BrowserMatch " Konqueror/4" redirect-carefully
BrowserMatchNoCase "^(q+q+)+z$" nokeepalive
SetEnvIf Referer "(q+q+)+(?=z)z$" nokeepalive
SetEnvIfNoCase ^DNT$ "1" nokeepalive
SetEnvIf ^X-Mode$ slow nokeepalive
SetEnvIf ^Host$ "never" nokeepalive
END
$t->start;
my $log = $t->fixed->log;
my @warned = $log =~ /FixedStatic: (\w+ \(\S+\)): the loop cannot look for/g;
is scalar @warned, 1, 'one of them is not for the loop';
like $warned[0] // '', qr/^SetEnvIf \(.*httpd\.conf:\d+\)/,
    'which the log names with its place';

my @plain = ('User-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/120.0');
my $r = $t->request('/1k.txt', @plain);
ok $t->learned($r), 'learned with a User-Agent';

# One request on each of some connections. @return answers of the loop
sub loop_answers {
    my (@fields) = @_;
    my $request = $t->request('/1k.txt', @fields);
    my $before = $t->hits;
    $t->same("$fields[-1]: as stock", [ $request, $request ]);
    return $t->hits - $before;
}

cmp_ok loop_answers(@plain), '>', 0, 'a browser is the loop\'s';
is loop_answers("User-Agent: $_"), 0, '... what matches is httpd\'s' for
    'Mozilla/2.0', 'a MSIE 4.0b2; b', 'RealPlayer 4.0', 'Java/1.0', 'JDK/1.0',
    'Microsoft Data Access Internet Publishing Provider DAV', 'MS FrontPage 1',
    'WebDrive 1', 'WebDAVFS/1.8', 'gnome-vfs/1.0', 'gvfs/1', 'XML Spy',
    'Dreamweaver-WebDAV-SCM1', 'Mozilla/5.0 Konqueror/4', 'QqqqZ';
cmp_ok loop_answers("User-Agent: $_"), '>', 0, '... what does not is not'
    for 'WebDAVFS/1.9', 'a gvfs/1', 'MSIE 4x0b2;', 'Konqueror/4';
is loop_answers(@plain, 'Referer: http://a/'), 0,
    'a field for which there is no linear form is httpd\'s';
cmp_ok loop_answers(@plain, 'Referer:'), '>', 0, 'but not an empty one';

# Debian's php-fpm.conf has ^Authorization$: a pattern that one name matches.
cmp_ok loop_answers(@plain, 'DNT: 0'), '>', 0, 'an anchored name, no match';
is loop_answers(@plain, $_), 0, "an anchored name, $_" for 'DNT: 1', 'dnt: 1',
    'X-Mode: slow', 'x-mode: slow', 'X-Mode: fast, slow';

# CPU time of the loop's thread, in ticks.
sub loop_ticks {
    my $sum = 0;
    for my $task (map glob("/proc/$_/task/*"), $t->fixed->children) {
        open my $f, '<', "$task/stat" or next;
        my $line = <$f> // next;
        $line =~ /\(httpd\/static\) (.*)/ or next;
        my @field = split ' ', $1;
        $sum += $field[11] + $field[12];
    }
    return $sum;
}

my $text = 'q' x 400 . 'zy';
for my $name ('User-Agent', 'Referer') {
    my $ticks = loop_ticks();
    my @hostile = map Test::Client->new($t->fixed->port), 1 .. 8;
    $_->send($t->request('/1k.txt', "$name: $text")) for @hostile;
    my $other = Test::Client->new($t->fixed->port);
    my $good = grep { ($other->get('/1k.txt', @plain) || next)->{status} == 200 }
        1 .. 20;
    is $good, 20, "another client is answered beside 8 hostile $name";
    is scalar(grep { ($_->answer // { status => 0 })->{status} == 200 }
        @hostile), 8, '... and they, too';
    my $ms = (loop_ticks() - $ticks) * 1000
        / POSIX::sysconf(POSIX::_SC_CLK_TCK());
    cmp_ok $ms, '<', 200 * Test::Httpd::slow(), '... the loop spent no time';
}
$t->finish;

# What one looks for counts where it stands: in its virtual host, in its
# section, or, at the main server, for all. Answers and log lines are stock's.
$t = Test::Twin->new(modules => ['headers'], conf => <<'END');
SetEnvIf Cookie everywhere x
<Location "/main/">
    SetEnvIf Referer main x
    Header set X-Main "is set" env=x
</Location>
Header set X-X "is set" env=x
<VirtualHost *:@PORT@>
    ServerName a.test
    BrowserMatch bot x
    Header set X-X "is set" env=x
</VirtualHost>
<VirtualHost *:@PORT@>
    ServerName b.test
    Header set X-X "is set" env=x
    <Location "/in/">
        SetEnvIf Referer "(q+)\\1" x
        SetEnvIf Referer good x
    </Location>
    <LocationMatch "^/d/$">
        SetEnvIf Referer good x
    </LocationMatch>
    CustomLog logs/b "%U %{x}e %{X-T}i"
</VirtualHost>
END
$t->file($_, $_) for qw(in/f.txt main/f.txt d/index.html);
$t->start;
# Each: host, target, the field, and whether that makes it httpd's.
my @scopes = (
    [ 'a', '/1k.txt', 'User-Agent: bot', 1 ],
    [ 'b', '/1k.txt', 'User-Agent: bot', 0 ],
    [ 'a', '/1k.txt', 'Cookie: everywhere', 1 ],
    [ 'b', '/1k.txt', 'Cookie: everywhere', 1 ],
    [ 'b', '/1k.txt', 'Referer: good', 0 ],
    [ 'b', '/1k.txt', 'Referer: qq', 0 ],
    [ 'b', '/in/f.txt', 'Referer: good', 1 ],
    [ 'b', '/in/f.txt', 'Referer: qq', 1 ],
    [ 'b', '/in/f.txt', 'Cookie: no', 0 ],
    [ 'b', '/in/f.txt', 'User-Agent: bot', 0 ],
    [ 'a', '/in/f.txt', 'Referer: good', 0 ],
    [ 'a', '/main/f.txt', 'Referer: main', 1 ],
    [ 'b', '/main/f.txt', 'Referer: main', 1 ],
    # one section applies here, which takes the others of its server along
    [ 'b', '/main/f.txt', 'Referer: good', 1 ],
    [ 'a', '/main/f.txt', 'Referer: good', 0 ],
    [ 'b', '/d/', 'Referer: good', 1 ],
    [ 'b', '/d/index.html', 'Referer: good', 0 ],
    [ 'a', '/d/', 'Referer: good', 0 ],
);
for (@scopes) {
    my ($host, $target, $field, $httpd) = @$_;
    my ($plain, $matching) = map $t->request($target, "Host: $host.test", @$_),
        [], [$field];
    my $name = "$host, $target, $field";
    my $teach = $plain =~ s/\r\n\r\n/\r\nX-T: teach\r\n\r\n/r;
    ok $t->learned($teach), "$name: learned" or diag $t->fixed->log;
    my $before = $t->hits;
    $t->same($name, [$matching]);
    my $got = $t->hits - $before;
    ok $httpd ? !$got : $got, '... ' . ($httpd ? 'by httpd' : 'by the loop');
    # nor is it learned for the others
    $t->learn($matching =~ s/\r\n\r\n/\r\nX-T: teach\r\n\r\n/r);
    $t->same("$name: the others", [ $plain, $matching, $plain ]);
}
# Nobody ever asks without the field, on new connections and on kept ones.
my $always = $t->request('/index.html', 'Host: b.test', 'Referer: good',
    'User-Agent: bot', 'X-T: teach');
ok $t->fixed->wait_for(sub {
    my $before = $t->hits;
    $t->ask($t->fixed, [ ($always) x 2 ]);
    return $t->hits - $before == 2;
}, 10), 'learned from requests that match elsewhere only';
my $lines = sub {
    open my $f, '<', $_[0]->root . '/logs/b' or return '';
    return join '', sort grep !/teach$/, <$f>;
};
$t->fixed->wait_for(sub { $lines->($t->fixed) eq $lines->($t->stock) }, 15);
is $lines->($t->fixed), $lines->($t->stock), 'the log';
is $t->counter('differed'), 0, 'audits found nothing';
$t->finish;
done_testing;
