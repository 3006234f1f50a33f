# SPDX-License-Identifier: Apache-2.0
# docs/security.md, known modules: what is loaded and not configured does not
# keep the loop from answering; what configures it does, where it applies; what
# counts or inspects requests does always. That the former make no difference
# is t/learn-battery.t's.
use strict;
use warnings;
use Test::More;
use Test::Modules;
use Test::Twin;
use Time::HiRes qw(sleep);

# What is asked of both servers once the loop may know it.
sub alike {
    my ($t, $name, $target, @fields) = @_;
    my $get = $t->request($target, @fields);
    (my $head = $get) =~ s/^GET/HEAD/;
    $t->same($name, [ $get, $head, $get,
        $t->request($target, @fields, 'Range: bytes=1-2'),
        $t->request($target, @fields, 'If-None-Match: "x"'), $get ]);
}

sub learns {
    my ($t, $name, $target, @fields) = @_;
    ok $t->learned($t->request($target, @fields)), "$name: the loop answers"
        or diag substr $t->fixed->log, -3000;
    alike($t, "$name: as httpd", $target, @fields);
}

# The rule has to be named.
sub refuses {
    my ($t, $name, $rule, $target, @fields) = @_;
    my ($hits, $log) = ($t->hits, length $t->fixed->log);
    $t->learn($t->request($target, @fields));
    is $t->hits - $hits, 0, "$name: the loop does not answer";
    like substr($t->fixed->log, $log), qr/is not learned \($rule\)/,
        "$name: by $rule";
    alike($t, "$name: as httpd", $target, @fields);
}

# Each answer has a value of its own, which stock httpd's has not.
sub has_own_ids {
    my ($t, @asked) = @_;
    my $r = $t->request(@asked);
    $t->learn($r);
    my @ids = map /^X-Id: a(\S+)\r$/m, $t->ask($t->fixed, [ ($r) x 4 ]);
    my %ids = map { $_ => 1 } @ids;
    is scalar keys %ids, 4, "UNIQUE_ID in a header, @asked: each has its own";
}

sub vhost {
    my ($name, $text) = @_;
    return "<VirtualHost *:\@PORT\@>\nServerName $name.test\n$text\n"
        . "</VirtualHost>\n";
}

# --- all that RHEL and Fedora load, as installed ---

{
    my $t = Test::Twin->new(modules => \@Test::Modules::rhel, conf => <<'END'
<IfModule mod_userdir.c>
    UserDir disabled
</IfModule>
<Directory "/home/*/public_html">
    AllowOverride FileInfo AuthConfig Limit Indexes
    Options MultiViews Indexes SymLinksIfOwnerMatch IncludesNoExec
    Require method GET POST OPTIONS
</Directory>
<Files ".ht*">
    Require all denied
</Files>
<IfModule dav_fs_module>
    DavLockDB run/dav
</IfModule>
CacheRoot "@ROOT@/run"
CacheDirLevels 2
CacheDirLength 1
AddOutputFilter INCLUDES .shtml
ErrorLogFormat "[%t] [%l] [pid %P] %{UNIQUE_ID}e %E: %M"
END
        . vhost('plain', '')
        # who reads the variable of mod_unique_id
        . vhost('header', 'Header set X-Id "a%{UNIQUE_ID}e"')
        . vhost('setenvif', 'SetEnvIf UNIQUE_ID ^[0-9A-Za-m] nokeepalive')
        . vhost('never', 'SetEnvIf UNIQUE_ID ^--- nokeepalive')
        . vhost('defined', "Define THAT unique_ID\n"
            . 'SetEnvIfNoCase ${THAT} ^--- nokeepalive')
        . vhost('unset', 'UnsetEnv UNIQUE_ID')
        # in a section, on variables that others take from the key
        . vhost('within', <<'END')
SetEnvIf Request_URI "/never" seen
Header set X-Seen yes env=seen
<Location />
    SetEnvIf UNIQUE_ID "^[0-9A-Za-m]|.[0-9A-Za-m]$" seen
</Location>
END
        . vhost('logged', 'CustomLog logs/l "%h %{UNIQUE_ID}e"')
        . vhost('others', 'CustomLog logs/m "%h %r %s" env=!unseen')
        # what configures others, in the server and in sections
        . vhost('cache', 'CacheEnable disk /')
        . vhost('dumpio', 'DumpIOInput On')
        . vhost('docroot', 'VirtualDocumentRoot @ROOT@/htdocs')
        . vhost('sections', <<'END'));
<Directory @ROOT@/htdocs/lua>
    LuaHookFixups @ROOT@/htdocs/hook.lua handle
</Directory>
<Directory @ROOT@/htdocs/session>
    Session On
    SessionCookieName session path=/
</Directory>
<Directory @ROOT@/htdocs/substitute>
    Substitute s/a/b/
</Directory>
<Location /dav>
    Dav On
</Location>
<Location /compat>
    Order deny,allow
    Deny from 127.0.0.2
</Location>
<Directory @ROOT@/htdocs/script>
    Script GET /1k.txt
</Directory>
<Directory @ROOT@/htdocs/action>
    Action text/css /1k.txt
</Directory>
<Location /header>
    Header set X-Id "a%{UNIQUE_ID}e"
</Location>
<Directory @ROOT@/htdocs/get>
    AllowMethods GET
</Directory>
<Directory @ROOT@/htdocs/post>
    AllowMethods POST
</Directory>
END
    $t->file("$_/a.txt", "a of $_\n") for qw(lua session substitute dav compat
        script action get post free header ~a);
    $t->file('action/a.css', 'p { }');
    $t->file('hook.lua', "function handle(r)\n"
        . "r.headers_out['X-A'] = r.headers_in['X-B'] return apache2.OK\nend\n");
    $t->start;
    learns($t, 'what RHEL loads', '/1k.txt', 'Host: plain.test');
    learns($t, 'what RHEL loads, an index', '/', 'Host: plain.test');
    learns($t, 'a log that reads another variable', '/1k.txt',
        'Host: others.test');
    refuses($t, "/~ with UserDir disabled", 'S2', '/~a/a.txt',
        'Host: plain.test');
    refuses($t, "UNIQUE_ID, $_", 'R5', '/1k.txt', "Host: $_.test")
        for qw(setenvif never defined unset within logged);
    has_own_ids($t, '/1k.txt', 'Host: header.test');
    refuses($t, "$_ in the server", 'S2', '/1k.txt', "Host: $_.test")
        for qw(cache dumpio docroot);
    learns($t, 'beside sections that configure modules', '/free/a.txt',
        'Host: sections.test');
    refuses($t, "$_ in a section", 'S2', "/$_/a.txt", 'Host: sections.test')
        for qw(lua session dav compat script);
    has_own_ids($t, '/header/a.txt', 'Host: sections.test');
    $t->same('Deny from: B', $t->request('/compat/a.txt',
        'Host: sections.test'), from => '127.0.0.2');
    $t->same('Script: B', $t->request('/script/a.txt?b',
        'Host: sections.test'));
    learns($t, 'Substitute without its filter', '/substitute/a.txt',
        'Host: sections.test');
    learns($t, 'Action for another type', '/action/a.txt',
        'Host: sections.test');
    refuses($t, 'Action for this type', 'R[12]', '/action/a.css',
        'Host: sections.test');
    learns($t, 'AllowMethods GET', '/get/a.txt', 'Host: sections.test');
    refuses($t, 'AllowMethods POST', 'R1', '/post/a.txt',
        'Host: sections.test');
    my (undef, $dump) = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
    like $dump, qr/FixedStatic for $_->[0]\.test: $_->[1]/, "dump: $_->[0]" for
        [ 'plain', 'answers may be repeated' ],
        [ 'sections', 'answers may be repeated' ],
        [ 'never', 'off, R5: SetEnvIf names UNIQUE_ID' ],
        [ 'cache', 'off, S2: CacheEnable' ];
    $t->finish;
}

# --- UserDir as Debian configures it, and a pattern ---
{
    my $t = Test::Twin->new(modules => [qw(userdir ssl md)],
        conf => "UserDir public_html\nUserDir disabled root\n"
            . vhost('pattern', 'UserDir @ROOT@/homes/*/www')
            . vhost('slashes', "MergeSlashes Off\nUserDir \@ROOT\@/homes/*/www"));
    for my $h ($t->both) {
        mkdir $h->root . "/$_" for qw(homes homes/a homes/a/www);
        my $path = $h->write_file('homes/a/www/a.txt', "home\n");
        utime 1_700_000_000, 1_700_000_000, $path;
        $h->write_conf($h->{conf} . '<Directory "' . $h->root
            . "/homes\">\nRequire all granted\n</Directory>\n");
    }
    $t->file('~a/a.txt', "not home\n");
    $t->file('x/~a/a.txt', "below\n");
    $t->file('.well-known/acme-challenge/a.txt', "webroot\n");
    $t->start;
    learns($t, 'with UserDir', '/1k.txt');
    learns($t, 'with UserDir, elsewhere', '/x/~a/a.txt', 'Host: pattern.test');
    refuses($t, 'a home', 'S2', '/~a/a.txt', 'Host: pattern.test');
    refuses($t, 'a challenge', 'S2', '/.well-known/acme-challenge/a.txt')
        if Test::Modules::is_installed('md');
    for my $target (qw(/%7Ea/a.txt /%7ea/a.txt //~a/a.txt /./~a/a.txt
        /x/../~a/a.txt /~root/ /~a /~a/)) {
        for my $host (qw(pattern.test slashes.test)) {
            $t->learn($t->request($target, "Host: $host"));
            alike($t, "$target of $host", $target, "Host: $host");
        }
    }
    $t->finish;
}

# --- the type comes from the bytes, and the file's times are set back ---
{
    my $t = Test::Twin->new(modules => ['mime_magic'],
        conf => "MIMEMagicFile run/magic\n");
    $_->write_file('run/magic', "0\tstring\tGIF8\timage/gif\n"
        . "0\tstring\tRar!\tapplication/x-rar\n") for $t->both;
    $t->file($_, "GIF8" . 'x' x 99) for qw(bytes other);
    $t->file('other@12', 'older');
    $t->start;
    like +($t->ask($t->fixed, $t->request('/bytes')))[0],
        qr/^Content-Type: image\/gif\r$/m, 'a type by magic';
    learns($t, 'mime_magic', '/bytes');
    $t->file('bytes', "Rar!" . 'x' x 99);
    sleep 1.3; # VALID
    alike($t, 'other bytes, of the same size and time', '/bytes');
    # the type of a revision is that of the file without the number
    like +($t->ask($t->fixed, $t->request('/other@12')))[0],
        qr/^Content-Type: image\/gif\r$/m, 'a type by magic of another file';
    refuses($t, 'a revision', 'S2', '/other@12');
    $t->file('other', 'Rar!' . 'x' x 99);
    alike($t, 'a revision of a file that has changed', '/other@12');
    $t->finish;
}

# --- those that have to see each request ---
{
    my $so = Test::Httpd->new(module => 0);
    my $path = $so->root . '/mod_witness.so';
    chomp(my ($cflags, $cppflags, $include) = map
        `@{[Test::Httpd::apxs()]} -q $_`, qw(CFLAGS EXTRA_CPPFLAGS INCLUDEDIR));
    chomp(my $apr = `apr-1-config --includes --cppflags`);
    is system("cc -shared -fPIC $cflags $cppflags -I$include $apr -o $path "
        . 't/module/witness.c'), 0, 'the module is built';
    my @witnesses = ([ 'mod_qos.c counts requests', [],
        "LoadModule witness_module $path\n" ]);
    push @witnesses, [ 'mod_log_forensic.c logs each request twice',
        ['log_forensic'], '' ] if Test::Modules::is_installed('log_forensic');
    # not known at all: S1 as ever
    push @witnesses, [ 'mod_case_filter.c, in the hook', ['case_filter'], '' ]
        if Test::Modules::is_installed('case_filter');
    for my $w (@witnesses) {
        my ($says, $modules, $conf) = @$w;
        my $t = Test::Twin->new(modules => $modules, conf => $conf);
        $t->start;
        my $hits = $t->hits;
        $t->learn($t->request('/1k.txt'));
        is $t->hits - $hits, 0, "$says: the loop does not answer";
        alike($t, "$says: as httpd", '/1k.txt');
        like $t->fixed->log, qr/FixedStatic is off \(S1\): \Q$says\E/,
            "$says: the log names it";
        like +($t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY'))[1],
            qr/off, S1: \Q$says\E/, "$says: so does the dump";
        $t->finish;
    }

    # All at once, each with every virtual host; the first is in front.
    my $all = Test::Httpd->new(mpm_conf => "ThreadsPerChild 4\n",
        modules => [ map @{ $_->[1] }, @witnesses ],
        conf => join '', "FixedProcesses 1\nFixedStatic on\n",
            "<Directory />\nAllowOverride None\n</Directory>\n",
            "<Location /status>\nSetHandler cpuaffinity-status\n</Location>\n",
            map $_->[2], @witnesses);
    my $dump = ($all->run('-t', '-D', 'DUMP_CPUAFFINITY'))[1];
    like $dump, qr/^  not in server, S1: \Q$_->[0]\E/m, "all: $_->[0]"
        for @witnesses;
    $all->start;
    $all->get('/1k.txt');
    my ($s) = @{ $all->json('/status?json')->{learning}{servers} };
    my @obstacles = @{ $s->{obstacles} };
    is scalar @obstacles, @witnesses, 'as many in the status';
    is_deeply [ map $_->{requests} ? 1 : 0, @obstacles ],
        [ 1, (0) x (@witnesses - 1) ], 'and the first is counted';
    $all->finish;
}
done_testing;
