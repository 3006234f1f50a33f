# SPDX-License-Identifier: Apache-2.0
# Access control is never bypassed: each kind of rule in each kind of place.
# A is let in (or is not), B gets what stock httpd gives it, and the loop
# answers neither.
use strict;
use warnings;
use Digest::SHA qw(sha1_base64);
use Test::More;
use Test::Twin;

# Each: text of the rule, B's fields, B's address. Written for inside a
# section.
my %rules = (
    ip => [ 'Require ip 127.0.0.1', undef, '127.0.0.2' ],
    notip => [ "<RequireAll>\nRequire all granted\nRequire not ip 127.0.0.2\n"
        . '</RequireAll>', undef, '127.0.0.2' ],
    basic => [ "AuthType Basic\nAuthName x\nAuthUserFile \@ROOT\@/passwd\n"
        . 'Require valid-user', 'Authorization: Basic dTpw' ],
    if => [ qq{<If "%{REMOTE_ADDR} == '127.0.0.2'">\nRequire all denied\n}
        . '</If>', undef, '127.0.0.2' ],
    cond => [ "RewriteEngine on\nRewriteCond %{REMOTE_ADDR} =127.0.0.2\n"
        . 'RewriteRule . - [F]', undef, '127.0.0.2' ],
    env => [ "SetEnvIf Cookie evil bad\n<RequireAll>\nRequire all granted\n"
        . "Require not env bad\n</RequireAll>", 'Cookie: evil' ],
    limit => [ "<Limit GET>\nRequire ip 127.0.0.1\n</Limit>", undef,
        '127.0.0.2' ],
    files => [ "<Files *.html>\nRequire ip 127.0.0.1\n</Files>", undef,
        '127.0.0.2' ],
    compat => [ "Order allow,deny\nAllow from all\nDeny from 127.0.0.2", undef,
        '127.0.0.2' ],
);

# Each: where the rule stands, around it.
my %places = (
    directory => sub { "<Directory $_[1]>\n$_[0]\n</Directory>" },
    match => sub { "<DirectoryMatch ^$_[1]>\n$_[0]\n</DirectoryMatch>" },
    location => sub { "<Location />\n$_[0]\n</Location>" },
    nested => sub { "<Directory $_[1]>\n<Files f.html>\n$_[0]\n</Files>\n"
        . '</Directory>' },
    included => sub { "Include $_[2]" },
    again => sub { "<Location />\nRequire all granted\n</Location>\n"
        . "<LocationMatch f.html\$>\n$_[0]\n</LocationMatch>" },
);

my (@names, %includes);
my $conf = '';
for my $rule (sort keys %rules) {
    for my $place (sort keys %places) {
        next if $rule eq 'files' && $place =~ /nested|location|again/;
        next if $rule eq 'if' && $place eq 'match'; # httpd cannot either
        my $name = "$rule-$place.test";
        my $dir = "\@ROOT\@/htdocs/$name";
        my $text = $rules{$rule}[0];
        # rewriting by directory does not run in <Location> and <Files>
        $text =~ s/\ARewriteEngine/Options FollowSymLinks\nRewriteEngine/;
        $includes{"$name.conf"} = "<Directory $dir>\n$text\n</Directory>\n";
        $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name\n"
            . "DocumentRoot $dir\n"
            . $places{$place}->($text, $dir, "\@ROOT\@/$name.conf")
            . "\n</VirtualHost>\n";
        push @names, [ $name, @{ $rules{$rule} }[1, 2] ];
    }
}
# And in servers: whole ones.
for ([ 'cond-vhost.test', "RewriteEngine on\nRewriteCond %{REMOTE_ADDR} "
        . "=127.0.0.2\nRewriteRule . - [F]", undef, '127.0.0.2' ],
    [ 'if-vhost.test', qq{<If "%{REMOTE_ADDR} == '127.0.0.2'">\n}
        . "Require all denied\n</If>", undef, '127.0.0.2' ],
    [ 'else-vhost.test', qq{<If "%{REMOTE_ADDR} == '127.0.0.1'">\n}
        . "</If>\n<Else>\nRequire all denied\n</Else>", undef, '127.0.0.2' ])
{
    my ($name, $text, @b) = @$_;
    $conf .= "<VirtualHost *:\@PORT\@>\nServerName $name\n"
        . "DocumentRoot \@ROOT\@/htdocs/$name\n$text\n</VirtualHost>\n";
    push @names, [ $name, @b ];
}
$conf .= "<VirtualHost *:\@PORT\@>\nServerName open.test\n"
    . "DocumentRoot \@ROOT\@/htdocs/open.test\n</VirtualHost>\n";

my $t = Test::Twin->new(conf => $conf, modules => [qw(authz_user auth_basic
    authn_file rewrite access_compat)]);
$t->file("$_/f.html", "of $_\n") for 'open.test', map $_->[0], @names;
for my $h ($t->both) {
    $h->write_file('passwd', 'u:{SHA}' . sha1_base64('pw') . "=\n");
    for my $name (keys %includes) {
        (my $text = $includes{$name}) =~ s/\@ROOT\@/$h->root/ge;
        $h->write_file($name, $text);
    }
}
$t->start;

my $open = $t->request('/f.html', 'Host: open.test');
$t->learned($open);
cmp_ok $t->hits, '>', 0, 'an open vhost beside them is answered by the loop';
my $hits = $t->hits;
my $differ = 0;
for (@names) {
    my ($name, $field, $from) = @$_;
    my @host = "Host: $name";
    my $a = $t->request('/f.html', @host);
    my $b = $t->request('/f.html', @host, grep defined, $field);
    $t->learn($a);
    $t->same("$name: A", $a);
    $t->same("$name: B", $b, from => $from);
    $differ++ if ($t->ask($t->fixed, $a))[0] ne
        ($t->ask($t->fixed, $b, from => $from))[0];
}
is $t->hits, $hits, 'the loop answered none of them';
cmp_ok $differ, '>', @names * 0.7, 'the pairs are pairs: B differs from A';
$t->finish;
done_testing;
