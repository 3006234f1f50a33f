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
done_testing;
