# SPDX-License-Identifier: Apache-2.0
# Generated .htaccess files, nested, that appear, vanish and change between
# requests, against stock httpd. Environment: SEED, ROUNDS.
use strict;
use warnings;
use Test::More;
use Test::Twin;
use Time::HiRes qw(time);

my $seed = $ENV{SEED} || 1 + (time ^ $$) % 1_000_000;
my $rounds = $ENV{ROUNDS} || 6;
srand $seed;
diag "seed $seed";

my @harmless = ('ForceType text/x-N', 'AddType text/x-N .txt', 'FileETag None',
    'AddCharset utf-8 .css', 'Header set X-A N', 'Header append X-A N',
    'Header unset ETag', 'Header unset X-A', 'SetEnv v N',
    'Header set X-V N env=v', 'SetEnvIf Request_URI css$ w=N',
    'Header set X-W N env=w', 'AddDefaultCharset On', 'Require all granted',
    'Options +Indexes', 'SetOutputFilter DEFLATE', '# N', 'ErrorDocument 404 N',
    'DirectoryIndex index.html', 'DirectoryIndex f.txt',
    'RequestHeader unset X-N');
my @others = ('Require all denied', 'Require ip 127.0.0.2',
    "Header set X-C N \"expr=%{HTTP_COOKIE} == 'a'\"",
    "SetEnvIf Cookie a c\nHeader set X-C N env=c", 'Options -FollowSymLinks',
    "<If \"%{HTTP_COOKIE} == 'a'\">\nForceType text/x-N\n</If>", 'What is N',
    "RewriteEngine On\nRewriteRule g.css f.txt",
    'SetHandler send-as-is', 'Redirect 302 /N');
my @around = ("%s\n") x 6;
push @around, "<Files f.txt>\n%s\n</Files>\n",
    "<FilesMatch css\$>\n%s\n</FilesMatch>\n",
    "<IfModule mod_headers.c>\n%s\n</IfModule>\n",
    "<IfModule !mod_headers.c>\n%s\n</IfModule>\n";

sub one { return $_[ int rand @_ ] }

sub text {
    return join '', map {
        my $line = rand() < 0.04 ? one(@others) : one(@harmless);
        my $around = $line =~ /^</ ? "%s\n" : one(@around);
        $around =~ s/%s/$line/r =~ s/\bN\b/int rand 5/ger;
    } 0 .. rand 4;
}

my $t = Test::Twin->new(modules => [qw(headers filter deflate rewrite asis)],
    conf => <<'END');
FixedStaticCache 10000 0
AccessFileName .htaccess .second
<Directory "@ROOT@/htdocs">
    AllowOverride All
    Options FollowSymLinks
</Directory>
END
my @dirs = ('', 'a/', 'a/b/', 'a/b/c/', 'd/');
for my $dir (@dirs) {
    $t->file("$dir$_", "$_\n" x 300) for qw(f.txt g.css index.html);
}
$_->{allow_log} = qr{/[.](?:htaccess|second)} for $t->both;
$t->start;

sub change {
    my $path = one(@dirs) . one('.htaccess', '.htaccess', '.second');
    my ($what, $text) = (rand, text());
    $t->change(sub {
        my $file = "$_[0]/$path";
        if ($what < 0.3) {
            unlink $file;
        }
        elsif ($what < 0.4) {
            unlink $file;
            symlink 'f.txt', $file if $what < 0.35;
        }
        else {
            unlink $file if -l $file;
            open my $f, '>', $file or die "$file: $!";
            print {$f} $text;
            close $f or die "$file: $!";
            utime 1_700_000_000, 1_700_000_000, $file;
        }
    });
}

sub requests {
    my (@fields) = ([], [], [], ['Cookie: a'], ['If-None-Match: *'],
        ['Range: bytes=0-9'], ['Accept-Encoding: gzip'], ['X-1: 2']);
    my @r = map $t->request('/' . one(@dirs)
        . one(qw(f.txt f.txt f.txt?q g.css g.css none), ''), @{ one(@fields) }),
        1 .. 6;
    return map { rand() < 0.1 ? s/^GET/HEAD/r : $_ } @r;
}

sub agree {
    my ($what, $count) = @_;
    my @differ;
    for (1 .. $count) {
        my @r = requests();
        my $from = one('127.0.0.1', '127.0.0.2');
        # httpd closes a connection after some errors; the rest is not read
        for my $r (@r) {
            my ($stock) = $t->ask($t->stock, [ $r ], from => $from);
            my ($fixed) = $t->ask($t->fixed, [ $r ], from => $from);
            push @differ, "$r\nSTOCK $stock\nFIXED $fixed"
                if $stock ne $fixed;
        }
    }
    ok !@differ, "seed $seed, $what" or diag scalar(@differ), "\n", $differ[0];
}

for my $round (1 .. $rounds) {
    change() for 1 .. 4;
    agree("$round: at once", 5);
    $t->settle;
    for my $dir (@dirs) {
        my @r = map $t->request("/$dir$_"), 'f.txt', 'g.css', '';
        $t->ask($t->fixed, [ ($_) x 3 ]) for (@r) x 3;
    }
    agree("$round: learned", 15);
    for (1 .. 5) {
        change();
        agree("$round: after change $_", 2);
    }
}
cmp_ok $t->hits, '>', $rounds, 'the loop answered ' . $t->hits;
is $t->counter('differed'), 0, 'audits found nothing';
$t->finish;
done_testing;
