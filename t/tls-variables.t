# SPDX-License-Identifier: Apache-2.0
# What of the configuration looks at TLS: variables in headers, conditions and
# logs, SSLRequire, SSLRequireSSL, HTTPS, an HSTS header. What depends on the
# connection is httpd's; what is the same for all is repeated; nothing crosses
# from HTTPS to HTTP.
use strict;
use warnings;
use Test::More;
use Test::TLSSite;

plan skip_all => Test::TLSSite::lacks() if Test::TLSSite::lacks();

my $format = '%h \"%r\" %>s %b %k \"%{Referer}i\"';
my @hosts = (
    'a.test' => '',
    'hsts.test' => 'Header always set Strict-Transport-Security'
        . " \"max-age=63072000; includeSubDomains\"\n",
    'hstsif.test' => 'Header always set Strict-Transport-Security'
        . " \"max-age=63072000\" env=HTTPS\n",
    'protocol.test' => "Header set X \"%{SSL_PROTOCOL}s\"\n",
    'cipher.test' => "Header set X-Cipher \"%{SSL_CIPHER}s\"\n",
    'session.test' => "Header set X-Resumed \"%{SSL_SESSION_RESUMED}s\"\n",
    'expr.test' => "Header set X \"expr=%{SSL_PROTOCOL}\"\n",
    'exprif.test' => "Header set X yes \"expr=%{SSL_PROTOCOL} == 'TLSv1.3'\"\n",
    'setenvifexpr.test' => "SetEnvIfExpr \"%{SSL_PROTOCOL} == 'TLSv1.3'\""
        . " new\nHeader set X new env=new\n",
    'options.test' => "SSLOptions +StdEnvVars +ExportCertData\n",
    'env.test' => "SSLOptions +StdEnvVars\n"
        . "Header set X \"%{SSL_PROTOCOL}e %{HTTPS}e\"\n",
    'envif.test' => "SSLOptions +StdEnvVars\nHeader set X yes env=SSL_PROTOCOL\n",
    'require.test' => "<Location />\nSSLRequire %{SSL_PROTOCOL} eq"
        . " \"TLSv1.3\"\n</Location>\n",
    'requireexpr.test' => "<Location />\nRequire expr %{SSL_PROTOCOL} =="
        . " 'TLSv1.3'\n</Location>\n",
    'requiressl.test' => "<Location />\nSSLRequireSSL\n</Location>\n",
    'bits.test' => "<Location />\nSSLRequire %{SSL_CIPHER_USEKEYSIZE} >= 256\n"
        . "</Location>\n",
    'authz.test' => "<Location />\nRequire ssl\n</Location>\n",
    'if.test' => "<If \"%{SSL_PROTOCOL} == 'TLSv1.3'\">\nHeader set X new\n"
        . "</If>\n",
    'https.test' => "<If \"%{HTTPS} == 'on'\">\nHeader set X secure\n</If>\n",
    'rewrite.test' => "RewriteEngine on\nRewriteCond %{HTTPS} !=on\n"
        . "RewriteRule . - [F]\n",
    'rewritessl.test' => "RewriteEngine on\nRewriteCond %{SSL:SSL_PROTOCOL}"
        . " =TLSv1.2\nRewriteRule . - [F]\n",
    'log.test' => "LogFormat \"$format %{SSL_PROTOCOL}x %{SSL_CIPHER}x\" ssl\n"
        . "CustomLog logs/ssl ssl\n",
    'logc.test' => "LogFormat \"$format %{version}c %{cipher}c\" sslc\n"
        . "CustomLog logs/sslc sslc\n",
    'loge.test' => "SSLOptions +StdEnvVars\n"
        . "LogFormat \"$format %{SSL_PROTOCOL}e %{HTTPS}e\" ssle\n"
        . "CustomLog logs/ssle ssle\n",
    'logif.test' => "CustomLog logs/sslif \"$format\""
        . " \"expr=%{SSL_PROTOCOL} == 'TLSv1.3'\"\n",
    'io.test' => "LogFormat \"$format %I %O %S\" io\nCustomLog logs/io io\n",
    'i.test' => "LogFormat \"$format %I\" in\nCustomLog logs/in in\n",
    'o.test' => "LogFormat \"$format %O\" out\nCustomLog logs/out out\n",
);
my %of = @hosts;
my @names = @hosts[ map 2 * $_, 0 .. $#hosts / 2 ];
# The same hosts without TLS, where a directive may say something else.
my $plain = join '', map {
    my $text = $of{$_} =~ s/^SSLOptions.*\n//gmr =~ s/^(LogFormat|CustomLog).*\n//gmr;
    "<VirtualHost *:\@PORT\@>\nServerName $_\n$text</VirtualHost>\n";
} @names;
my $t = Test::TLSSite::twin(modules => [qw(headers rewrite logio)],
    hosts => [@hosts], conf => "<VirtualHost *:\@PORT\@>\nServerName status\n"
    . "</VirtualHost>\n$plain");
$t->file('f.txt', 'f' x 100);
$t->start;

my @tls = map {
    my $version = $_;
    map {
        my $ciphers = $_;
        { version => $version, $ciphers ? (ciphers => $ciphers) : () }
    } $version eq '1.2' ? qw(ECDHE-ECDSA-AES128-GCM-SHA256
        ECDHE-ECDSA-AES256-GCM-SHA384) : undef;
} qw(1.3 1.2);

# Learned with one, asked with the others: all as stock's.
sub across {
    my ($host, @kinds) = @_;
    my $r = $t->request('/f.txt', "Host: $host", 'Referer: compared');
    my $unmarked = $r =~ s/Referer.*\n//r;
    for my $i (0 .. $#kinds) {
        $t->learn($unmarked, tls => { sni => $host, %{ $kinds[$i] } });
        $t->same("$host: kind $_, learned with kind $i", [ ($r) x 4 ],
            tls => { sni => $host, %{ $kinds[$_] } }) for 0 .. $#kinds;
        $t->same("$host: without TLS, learned with kind $i", [ ($r) x 4 ],
            tls => 0);
    }
}

for my $host (qw(a.test hsts.test)) {
    Test::TLSSite::learns($t, "$host, TLS $_->{version}",
        $t->request('/f.txt', "Host: $host"), tls => { sni => $host, %$_ })
        for @tls;
}
my %never = map { ("$_.test" => 1) } qw(protocol cipher session expr exprif
    setenvifexpr env require requireexpr bits if https rewritessl);
for my $host (grep { $_ ne 'a.test' } @names) {
    across($host, $never{$host} || $host =~ /^log/ ? @tls : @tls[ 0, 1 ]);
}
for my $host (grep { $never{$_} } @names) {
    Test::TLSSite::never($t, $host, $t->request('/f.txt', "Host: $host"),
        tls => { sni => $host, %{ $tls[0] } });
}

# The other way round: known without TLS, asked for with it.
my $other = $t->request('/1k.txt', 'Host: localhost');
$t->same('known without TLS, with it', [ ($other) x 4 ])
    if $t->learn($other, tls => 0);
for my $host (qw(requiressl.test hsts.test rewrite.test authz.test)) {
    my $r = $t->request('/1k.txt', "Host: $host");
    $t->learn($r, tls => 0);
    $t->same("$host: known without TLS, with it", [ ($r) x 4 ],
        tls => { sni => $host });
    $t->same("$host: without it again", [ ($r) x 4 ], tls => 0);
}

Test::TLSSite::same_lines($t, "log $_", $_, qr/"compared"/)
    for qw(ssl sslc ssle sslif);
# Of the bytes those of later requests: the first one's have the handshake's.
Test::TLSSite::same_lines($t, "log $_", $_, qr/ [123] "compared"/)
    for qw(io in out);
$t->finish;
done_testing;
