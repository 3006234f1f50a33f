# SPDX-License-Identifier: Apache-2.0
# Fields of any name pass, unless the configuration reads them: each way in
# which a directive can read one. What was learned without the field (or with
# it) must not be said to who sends it (or does not). A directory has one
# directive, a file for each order; stock httpd says what is right.
use strict;
use warnings;
use Test::Httpd;
use Test::More;
use Test::Twin;

# name => [ what stands in its <Directory>, 1: httpd's answer to "X-Custom: a"
# is the same ]
my %ways = (
    'if-header' => [<<'END'],
<If "%{HTTP:X-Custom} == 'a'">
    Header set X-Seen yes
</If>
END
    'if-denied' => [<<'END'],
<If "req('X-Custom') == 'a'">
    Require all denied
</If>
END
    'if-present' => [<<'END'],
<If "-n http('X-Custom')">
    ForceType text/x-seen
</If>
END
    'if-silent' => [<<'END'],
<If "req_novary('X-Custom') == 'a'">
    Header set X-Seen yes
</If>
END
    'require-expr' => [q(Require expr "req('X-Custom') != 'a'")],
    'header-if' => [q(Header set X-Seen yes "expr=req('X-Custom') == 'a'")],
    'header-value' => [q(Header set X-Seen "expr=%{req:X-Custom}")],
    'header-silent' => [q(Header set X-Seen "expr=%{req_novary:X-Custom}")],
    'header-edit' => [q(Header edit Content-Type plain "expr=%{req:X-Custom}")],
    'header-echo' => ['Header echo ^X-Cust'],
    'setenvif' => [<<'END'],
SetEnvIf X-Custom a seen
Header set X-Seen yes env=seen
END
    'setenvif-not' => [<<'END'],
SetEnvIf X-Custom a seen
<RequireAll>
    Require all granted
    Require not env seen
</RequireAll>
END
    'setenvif-core' => [<<'END'],
SetEnvIfNoCase x-custom A no-gzip
SetOutputFilter DEFLATE
END
    'setenvif-pattern' => [<<'END'],
SetEnvIf ^X-Cust a seen
Header set X-Seen yes env=seen
END
    'setenvif-chain' => [<<'END'],
SetEnvIf X-Custom a one
SetEnvIf one . seen
Header set X-Seen yes env=seen
END
    'setenvif-expr' => [<<'END'],
SetEnvIfExpr "req('X-Custom') == 'a'" seen
Header set X-Seen yes env=seen
END
    'setenvif-close' => ["SetEnvIf X-Custom a nokeepalive\n"],
    'rewrite' => [<<'END'],
RewriteEngine on
RewriteCond %{HTTP:X-Custom} a
RewriteRule . - [F]
END
    'rewrite-env' => [<<'END'],
RewriteEngine on
RewriteRule . - [E=seen:%{HTTP:X-Custom}]
Header set X-Seen "%{seen}e"
END
    'request-header' => [<<'END'],
RequestHeader set Accept-Encoding gzip "expr=req('X-Custom') == 'a'"
SetOutputFilter DEFLATE
END
    'request-header-copy' => [<<'END'],
RequestHeader set If-None-Match "expr=%{req:X-Custom}"
Header set X-Seen "expr=%{req:If-None-Match}"
END
    'request-header-log' => ["RequestHeader unset X-Custom\n", 1],
    'request-header-if' => [<<'END'],
RequestHeader edit X-Custom a seen
<If "req('X-Custom') == 'a'">
    Header set X-Seen yes
</If>
Header set X-Other "expr=%{req:X-Custom}"
END
    'request-header-packs' => [<<'END', 1],
RequestHeader set Accept-Encoding gzip
SetOutputFilter DEFLATE
END
    'request-header-unpacks' => [<<'END', 1],
RequestHeader unset Accept-Encoding
SetOutputFilter DEFLATE
END
    'handler' => [q(SetHandler "expr=%{req:X-Custom}"), 1],
    'provider' => [<<'END'],
FilterDeclare pack
FilterProvider pack DEFLATE "req('X-Custom') == 'a'"
FilterChain pack
END
    'include' => [<<'END'],
Options +Includes
SetOutputFilter INCLUDES
END
    'vary' => ["Header append Vary X-Custom\n", 1],
    'constant' => ["Header set X-Constant yes\n", 1],
);
my $conf = <<'END';
LogFormat "\"%r\" %>s %B [%{X-Custom}i]" l
LogFormat "seen %U" seen
CustomLog logs/l l
CustomLog logs/seen seen env=seen
<Location /redirect>
    Redirect "/1k.txt?%{HTTP:X-Custom}"
</Location>
ErrorDocument 404 "none: %{req:X-Custom}"
END
for my $way (sort keys %ways) {
    $conf .= "<Directory \@ROOT\@/htdocs/$way>\n$ways{$way}[0]\n</Directory>\n";
}
my $t = Test::Twin->new(conf => $conf,
    modules => [qw(headers deflate filter rewrite include)]);
my @orders = ('without', 'with');
my $text = '<!--#if expr="-n http(\'X-Custom\')" -->seen<!--#endif -->'
    . 'text' x 200;
for my $way (keys %ways) {
    $t->file("$way/$_.txt", $text) for @orders;
}
$t->start;

my %first = (without => [], with => ['X-Custom: a']);
my @gzip = ('Accept-Encoding: gzip');
my @targets = map { my $way = $_; map [ "/$way/$_.txt", $_ ], @orders }
    sort(keys %ways), 'redirect', 'none';

# Everything is learned that ever will be.
sub learn {
    for (1 .. 3) {
        for (@targets) {
            my ($target, $order) = @$_;
            my $r = $t->request($target, @{ $first{$order} });
            my $packed = $t->request($target, @gzip, @{ $first{$order} });
            $t->ask($t->fixed, [ $r, $r, $packed, $packed ]);
        }
    }
}
learn();
my $known = $t->request('/constant/without.txt');
ok $t->learned($known), 'the server as a whole may be learned from';
learn();

for (@targets) {
    my ($target, $order) = @$_;
    for my $fields ([], ['X-Custom: a'], ['x-CUSTOM: a'], ['X-Custom: b'],
        ['X-Custom:'], [ 'X-Custom: b', 'X-Custom: a' ], ['X_Custom: a'],
        [ 'X-Custom: a', @gzip ], [@gzip]) {
        my $r = $t->request($target, @$fields);
        $t->same("$target: " . join(', ', @$fields), [ $r, $r ]);
    }
}
for my $way (sort keys %ways) {
    my ($differ, @answers) = $ways{$way}[1];
    for my $more ([], \@gzip) {
        @answers = map $t->ask($t->stock, $t->request("/$way/with.txt",
            @$more, @$_)), [], ['X-Custom: a'];
        $differ ||= $answers[0] ne $answers[1];
    }
    my $log = Test::Httpd::slurp($t->stock->root . '/logs/seen');
    ok $differ || $log =~ m{^seen /$way/}m, "$way: the field tells";
}
ok $t->learned($t->request("/$_/without.txt", 'X-Other: a')),
    "$_: other fields are inert there" for 'constant', 'vary',
    'setenvif-close';
$t->finish;
done_testing;
