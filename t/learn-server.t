# SPDX-License-Identifier: Apache-2.0
# docs/security.md, S1 and S2: what is refused for a whole server, with the module
# or directive named, and what must be learned all the same.
use strict;
use warnings;
use Test::More;
use Test::Twin;

# Learns a target; the loop must answer it, or must not.
sub learns {
    my ($t, $name, $expected, @request) = @_;
    my $r = $t->request(@request);
    my $before = $t->hits;
    $expected ? $t->learned($r) : $t->learn($r);
    $t->same("$name: the same bytes", [ $r, $r ]);
    my $got = $t->hits - $before;
    return ok($expected ? $got > 0 : !$got,
        "$name: " . ($expected ? 'the loop answers' : 'httpd answers'))
        || diag $t->fixed->log;
}

# Debian's default configuration, as its packages enable it.
{
    my $t = Test::Twin->new(twin_conf => 0, modules => [qw(access_compat
        auth_basic authn_file authz_user autoindex deflate filter negotiation
        reqtimeout)], conf => <<'END');
<Directory />
    Options FollowSymLinks
    AllowOverride None
    Require all denied
</Directory>
<Directory @ROOT@/htdocs/>
    Options Indexes FollowSymLinks
    AllowOverride None
    Require all granted
</Directory>
AccessFileName .htaccess
<FilesMatch "^\.ht">
    Require all denied
</FilesMatch>
ServerTokens OS
ServerSignature On
TraceEnable Off
KeepAliveTimeout 5
MaxKeepAliveRequests 100
HostnameLookups Off
LogFormat "%v:%p %h %l %u %t \"%r\" %>s %O \"%{Referer}i\" \"%{User-Agent}i\"" vhost_combined
LogFormat "%h %l %u %t \"%r\" %>s %b" common
CustomLog logs/access.log common
IndexOptions FancyIndexing VersionSort HTMLTable NameWidth=* DescriptionWidth=* Charset=UTF-8
AddIconByType (TXT,/icons/text.gif) text/*
ReadmeName README.html
IndexIgnore .??* *~ *#
AddOutputFilterByType DEFLATE text/html text/plain text/xml text/css
DirectoryIndex index.html
AddEncoding x-gzip .gz .tgz
AddType application/x-compress .Z
AddHandler type-map var
AddOutputFilter DEFLATE shtml
LanguagePriority en de fr
ForceLanguagePriority Prefer Fallback
RequestReadTimeout header=20-40,minrate=500
RequestReadTimeout body=10,minrate=500
BrowserMatch "Mozilla/2" nokeepalive
BrowserMatch "MSIE 4\.0b2;" nokeepalive downgrade-1.0 force-response-1.0
BrowserMatch "RealPlayer 4\.0" force-response-1.0
BrowserMatch "Java/1\.0" force-response-1.0
BrowserMatch "JDK/1\.0" force-response-1.0
BrowserMatch "Microsoft Data Access Internet Publishing Provider" redirect-carefully
BrowserMatch "^WebDAV/1.[012]" redirect-carefully
ExtendedStatus On
<Location /server-status>
    SetHandler server-status
    Require local
</Location>
<Location /cpuaffinity>
    SetHandler cpuaffinity-status
    Require local
</Location>
<Directory @ROOT@/htdocs/refused>
    Require ip 127.0.0.1
</Directory>
END
    $t->file('page.html', '<p>page');
    $t->file('site.css', 'p { color: red } ' x 50);
    $t->file('refused/a.html', 'a');
    $t->start;
    my $agent = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64)';
    learns($t, 'Debian, a page', 1, '/page.html', $agent);
    learns($t, 'Debian, a style sheet', 1, '/site.css', $agent);
    learns($t, 'Debian, the index', 1, '/', $agent);
    learns($t, 'Debian, a query', 1, '/page.html?v=1', $agent);
    $t->settle;
    learns($t, 'Debian, compressed', 1, '/site.css', 'Accept-Encoding: gzip');
    learns($t, 'Debian, an old browser', 0, '/page.html',
        'User-Agent: Mozilla/2.0');
    learns($t, 'Debian, Require ip', 0, '/refused/a.html', $agent);
    my @dump = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
    like $dump[1], qr/FixedStatic for \S+: answers may be repeated/,
        'the dump says so';
    $t->finish;
}

# One vhost beside another; and R0.
{
    my $vhost = sub {
        my ($name, $text) = @_;
        return "<VirtualHost *:\@PORT\@>\nServerName $name\n"
            . "DocumentRoot \@ROOT\@/htdocs/$name\n"
            . "<Directory \@ROOT\@/htdocs/$name>\nRequire all granted\n"
            . "</Directory>\n$text\n</VirtualHost>\n";
    };
    my %refused = (
        'rewrite.test' => 'RewriteEngine on',
        'header.test' => 'Header set X-Time %t',
        'request.test' => 'RequestHeader set Accept-Encoding gzip',
        'echo.test' => 'Header echo ^Cookie',
        'env.test' => 'Header set X-A %{Y}e env=Y',
        'setenvif.test' => 'SetEnvIf Remote_Addr 127 local',
        'pattern.test' => 'SetEnvIf ^X-Mo 1 mode',
        'either.test' => 'SetEnvIf ^(X-A|X-B)$ 1 mode',
        'absent.test' => 'SetEnvIf Cookie ^$ nocookie',
        'log.test' => 'CustomLog logs/l "%h" "expr=%{REMOTE_ADDR} == \'\'"',
        'handler.test' => 'CustomLog logs/m "%R"',
        'type.test' => 'Header set Content-Type text/x',
        'lookups.test' => 'HostnameLookups on',
        'proxy.test' => "SetEnvIf X-Debug 1 no-proxy\nProxyPass /p http://b/",
        'remote.test' => 'RemoteIPHeader X-Forwarded-For',
        'filter.test' => "FilterDeclare x\nFilterProvider x SUBSTITUTE "
            . qq{"req('Cookie') == 'x'"\nFilterChain x},
    );
    my $conf = "HttpProtocolOptions Unsafe\n" . $vhost->('a.test', '')
        . $vhost->('b.test', 'Header set X-B b')
        . join '', map $vhost->($_, $refused{$_}), sort keys %refused;
    my $t = Test::Twin->new(conf => $conf,
        modules => [qw(rewrite headers proxy
        proxy_http remoteip filter substitute)]);
    $t->file("$_/x.txt", "of $_\n") for 'a.test', 'b.test', keys %refused;
    $t->start;
    learns($t, 'a vhost beside others', 1, '/x.txt', 'Host: a.test');
    learns($t, 'another with a Header', 1, '/x.txt', 'Host: b.test');
    for my $name (sort keys %refused) {
        learns($t, $name, 0, '/x.txt', "Host: $name");
        like $t->fixed->log,
            qr/warn.*FixedStatic is off for \Q$name\E \(S2\): .*httpd\.conf:\d+/,
            "$name: the log names directive and line";
    }
    my ($code, $dump) = $t->fixed->run('-t', '-D', 'DUMP_CPUAFFINITY');
    like $dump, qr/FixedStatic for rewrite\.test: off, S2: RewriteEngine/,
        'the dump lists the refusals';
    like $dump, qr/FixedStatic for a\.test: answers may be repeated/,
        'and who is not refused';
    my $status = $t->fixed->json('/cpuaffinity?json')->{learning};
    my %state = map { $_->{server} => $_ } @{ $status->{servers} };
    is $state{'a.test'}{state}, 'on', 'the status knows who is on';
    is $state{'rewrite.test'}{state}, 'off', 'and who is off';
    like $state{'rewrite.test'}{why}, qr/RewriteEngine \(.*:\d+\)/, 'and why';
    my ($s2) = grep $_->{rule} eq 'S2', @{ $status->{refusals} };
    cmp_ok $s2->{count}, '>', 10, 'refusals are counted by reason';
    like $t->fixed->get('/cpuaffinity')->{body}, qr/<td>rewrite\.test<td>off/,
        'on the page, too';
    like $t->fixed->get('/cpuaffinity?prometheus')->{body},
        qr/^httpd_cpuaffinity_refusals_total\{rule="S2",reason="[^"]+"\} \d/m,
        'and for Prometheus';
    # R0: Unsafe takes the vhost from an absolute target, the fields stay.
    $t->learn("GET http://b.test/x.txt HTTP/1.1\r\nHost: a.test\r\n\r\n");
    learns($t, 'R0, the other vhost', 1, '/x.txt', 'Host: a.test');
    $t->finish;
}

# Without fixed processes it says that it does nothing.
{
    my $h = Test::Httpd->new(conf => "FixedStatic on\n");
    $h->start;
    is $h->get('/1k.txt')->{status}, 200, 'without FixedProcesses httpd serves';
    like $h->log, qr/warn.*FixedStatic has no effect: there are no fixed/,
        'and warns that FixedStatic has no effect';
    like +($h->run('-t', '-D', 'DUMP_CPUAFFINITY'))[1],
        qr/FixedStatic has no effect/, 'so does the dump';
    $h->finish;
}

# Without FixedStatic nothing is.
{
    my $t = Test::Twin->new(on => 0);
    $t->start;
    learns($t, 'FixedStatic is off by default', 0, '/1k.txt');
    $t->finish;
}
{
    my $t = Test::Twin->new(on => 0, conf => "<Directory \@ROOT\@/htdocs/on>\n"
        . "FixedStatic on\n</Directory>\n");
    $t->file('on/a.txt', 'a');
    $t->start;
    learns($t, 'on in a directory', 1, '/on/a.txt');
    learns($t, 'not outside of it', 0, '/1k.txt');
    $t->finish;
}
done_testing;
